import { widthOf } from '@earshot/query';

/** Controls, line ends, invisible and direction-changing characters, and halves of surrogate pairs. */
const unprintable = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\s]+/gu;
/** One line without control characters, because untrusted content must not control the terminal. */
export function printable(text: string): string {
  return spaced(text).trim();
}

/** The same for a piece of a line: it keeps spaces at the ends. */
export function spaced(text: string): string {
  return text.replaceAll(unprintable, ' ');
}

/** The same for lines with carets: each character is replaced by one, so that the carets stay aligned. */
export function printableLines(text: string): string {
  return text.replaceAll(/(?!\n)[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]/gu, '·');
}

/** Characters that JSON does not escape but terminals interpret or hide: DEL, C1, direction-changing and zero-width ones. */
const unprintableInJson = /[\u007f-\u009f\u2028\u2029\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;

/** The value as one line of JSON. Parsing it restores every character. */
export function jsonLine(value: unknown): string {
  return JSON.stringify(value).replaceAll(unprintableInJson, (character) =>
    character.split('').map(escaped).join(''),
  );
}

function escaped(codeUnit: string): string {
  return `\\u${codeUnit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** Exactly this many terminal columns: shortened with an ellipsis, or padded. */
export function fitWidth(text: string, columns: number): string {
  const total = widthOf(text);
  if (total <= columns) return text + ' '.repeat(columns - total);
  const kept = cutWidth(text, columns - 1);
  return `${kept}…${' '.repeat(columns - 1 - widthOf(kept))}`;
}

/** The longest beginning that fits into these columns. */
export function cutWidth(text: string, columns: number): string {
  let kept = '';
  let used = 0;
  for (const character of text) {
    used += widthOf(character);
    if (used > columns) break;
    kept += character;
  }
  return kept;
}

/** Quotes the text for a POSIX shell. */
export function shellQuoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
