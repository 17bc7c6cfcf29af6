/**
 * The text that is registered upstream and by which equal rules share one upstream rule: white space outside
 * quotes collapsed and trimmed. Both upstreams keep a value verbatim, so texts that differ only in spaces would
 * otherwise count twice. Nothing else is changed: it must mean exactly the same.
 */
export function canonicalText(value: string): string {
  let text = '';
  let quoted = false;
  let pendingSpace = false;
  for (let index = 0; index < value.length; index++) {
    const character = value.charAt(index);
    if (!quoted && /\s/.test(character)) {
      pendingSpace = text.length > 0;
      continue;
    }
    if (pendingSpace) text += ' ';
    pendingSpace = false;
    text += character;
    if (character === '\\' && index + 1 < value.length) text += value.charAt(++index);
    else if (character === '"') quoted = !quoted;
  }
  return text;
}
