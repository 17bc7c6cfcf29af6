const lineLengthMax = 4 * 1024 * 1024;

/**
 * Lines of a byte stream whose chunks may end anywhere, also inside a character. A `\r` before the line's end is
 * stripped. A line that is too long is given as null, once, and skipped to its end. What has no end is dropped.
 */
export async function* splitLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string | null> {
  const decoder = new TextDecoder();
  let rest = '';
  let skipping = false;
  for await (const chunk of chunks) {
    rest += decoder.decode(chunk, { stream: true });
    let start = 0;
    for (let end = rest.indexOf('\n'); end >= 0; end = rest.indexOf('\n', start)) {
      const line = rest.slice(start, rest.charAt(end - 1) === '\r' ? end - 1 : end);
      start = end + 1;
      if (skipping) skipping = false;
      else yield line;
    }
    rest = skipping ? '' : rest.slice(start);
    if (rest.length > lineLengthMax) {
      rest = '';
      skipping = true;
      yield null;
    }
  }
}
