const lineFeed = 0x0a;
const carriageReturn = 0x0d;
/** Bytes that are kept of a line that is too long: enough to identify it. */
const beginningBytes = 64;

export interface Line {
  readonly text: string;
  /** The line was too long: `text` is its beginning, and the rest is skipped. */
  readonly isCut: boolean;
}

export interface SplitOptions {
  readonly bytesMax: number;
  /** Whether a single `\r` also ends a line. */
  readonly endsAtReturn?: boolean;
}

/**
 * Splits a byte stream into lines. Chunks may end anywhere, even inside a character. A `\r` before the line end is
 * removed. A line that is too long is yielded once, as soon as it exceeds the limit. A last line without an end is
 * dropped. Each byte is read once, however slowly a line arrives.
 */
export async function* splitLines(
  chunks: AsyncIterable<Uint8Array>,
  { bytesMax, endsAtReturn = false }: SplitOptions,
): AsyncGenerator<Line> {
  // Removes a leading byte order mark; later ones belong to their line.
  let decoder = new TextDecoder();
  const later = new TextDecoder('utf-8', { ignoreBOM: true });
  const held = createHeldBytes();
  let skipping = false;
  let endedByReturn = false;
  for await (const chunk of chunks) {
    let start = 0;
    let feed = chunk.indexOf(lineFeed);
    let back = endsAtReturn ? chunk.indexOf(carriageReturn) : -1;
    while (feed >= 0 || back >= 0) {
      const isReturn = back >= 0 && (feed < 0 || back < feed);
      const end = isReturn ? back : feed;
      const isSecondHalf = !isReturn && endedByReturn && end === start && held.length() === 0 && !skipping;
      if (!skipping && !isSecondHalf) {
        const bytes = held.take(chunk.subarray(start, end));
        const isCut = bytes.length > bytesMax;
        const text = decoder.decode(isCut ? bytes.subarray(0, beginningBytes) : bytes);
        yield { text: text.endsWith('\r') ? text.slice(0, -1) : text, isCut };
        decoder = later;
      }
      skipping = false;
      endedByReturn = isReturn;
      start = end + 1;
      if (isReturn) back = chunk.indexOf(carriageReturn, start);
      else feed = chunk.indexOf(lineFeed, start);
    }
    if (skipping) continue;
    if (held.length() + chunk.length - start <= bytesMax) {
      held.add(chunk.subarray(start));
    } else {
      skipping = true;
      yield {
        text: decoder.decode(held.take(chunk.subarray(start)).subarray(0, beginningBytes)),
        isCut: true,
      };
    }
  }
}

/**
 * Buffers the bytes of an unfinished line. The buffer doubles, so that many small chunks need no more memory than few
 * large ones.
 */
function createHeldBytes() {
  let buffer = new Uint8Array();
  let length = 0;
  const add = (bytes: Uint8Array) => {
    if (length + bytes.length > buffer.length) {
      const larger = new Uint8Array(Math.max(2 * buffer.length, length + bytes.length));
      larger.set(buffer.subarray(0, length));
      buffer = larger;
    }
    buffer.set(bytes, length);
    length += bytes.length;
  };
  return {
    add,
    length: () => length,
    /** Returns all buffered bytes plus these. */
    take(last: Uint8Array): Uint8Array {
      if (length === 0) return last;
      add(last);
      const all = buffer.subarray(0, length);
      buffer = new Uint8Array();
      length = 0;
      return all;
    },
  };
}
