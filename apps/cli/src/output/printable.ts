import { widthOf } from '@earshot/query';

/** Controls, line ends, invisible and direction-changing characters, and halves of surrogate pairs. */
const unprintable = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\s]+/gu;
/** One line without anything that could move a terminal's cursor: posts are written by strangers. */
export function printable(text: string): string {
  return spaced(text).trim();
}

/** The same for a piece of a line: the spaces at its ends stay. */
export function spaced(text: string): string {
  return text.replaceAll(unprintable, ' ');
}

/** The same for whole lines with carets: one character for each, so that the carets stay below what they mean. */
export function printableLines(text: string): string {
  return text.replaceAll(/(?!\n)[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]/gu, '·');
}

/** What JSON lets through and a terminal obeys or does not show: DEL, C1, direction-changing and zero-width characters. */
const unprintableInJson = /[\u007f-\u009f\u2028\u2029\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;

/** The value on one line for programs. Whoever parses it gets every character back. */
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

/** As much of the beginning as these columns hold. */
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

/** As a POSIX shell reads it back. */
export function shellQuoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
