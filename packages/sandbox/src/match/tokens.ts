const TOKEN = /\p{Extended_Pictographic}|[\p{L}\p{M}\p{N}]+/gu;

/** Words and emoji, in lower case and composed form; punctuation only separates (x.md §11). */
export function tokenize(text: string): string[] {
  return text.normalize('NFC').toLowerCase().match(TOKEN) ?? [];
}

/** Tokens in a form where a phrase is a plain substring: ` one two three `. */
export function toSearchLine(tokens: readonly string[]): string {
  return ` ${tokens.join(' ')} `;
}

/** Writing without spaces has no word bounds, so such a word is looked for inside the run. */
export function isUnspaced(token: string): boolean {
  return /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u.test(token);
}
