/** Translates offsets in the UTF-8 bytes of the text; undefined for what is no border of a character. */
export function utf16Offsets(text: string): (byte: unknown) => number | undefined {
  let known: Map<number, number> | null = null;
  return (byte) => {
    if (typeof byte !== 'number') return undefined;
    known ??= bordersOf(text);
    return known.get(byte);
  };
}

function bordersOf(text: string): Map<number, number> {
  const borders = new Map<number, number>();
  let byte = 0;
  let at = 0;
  for (const character of text) {
    borders.set(byte, at);
    byte += bytesOf(character.codePointAt(0) ?? 0);
    at += character.length;
  }
  return borders.set(byte, at);
}

function bytesOf(codePoint: number): number {
  if (codePoint < 0x80) return 1;
  if (codePoint < 0x800) return 2;
  return codePoint < 0x10000 ? 3 : 4;
}
