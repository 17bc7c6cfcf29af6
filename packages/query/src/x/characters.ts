/** Character classes of X's rule text and post text (x.md §10.1, §11). ASCII is decided without a regular expression. */

export function isSpace(code: number): boolean {
  if (code <= 0x20) return code === 0x20 || (code >= 0x09 && code <= 0x0d);
  if (code < 0xa0) return false;
  return (
    code === 0xa0 ||
    code === 0x3000 ||
    code === 0xfeff ||
    code === 0x1680 ||
    (code >= 0x2000 && code <= 0x200a) ||
    code === 0x2028 ||
    code === 0x2029 ||
    code === 0x202f ||
    code === 0x205f
  );
}

function isAsciiLetterOrDigit(code: number): boolean {
  return (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a) || (code >= 0x30 && code <= 0x39);
}

export function isNameCode(code: number): boolean {
  return isAsciiLetterOrDigit(code) || code === 0x5f;
}

const separator = /[\p{P}\p{S}\p{Z}\p{Cc}]/u;
const pictograph = /[\p{Extended_Pictographic}\u{1F1E6}-\u{1F1FF}]/u;
const dense =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Khmer}\p{Script=Lao}\p{Script=Myanmar}]/u;

/** Ends a word: punctuation, symbols, separators, controls. `_` is one of them (uncertain upstream). */
export function isSeparator(codePoint: number): boolean {
  if (codePoint < 0x80) return !isAsciiLetterOrDigit(codePoint);
  return !isCommonLetter(codePoint) && separator.test(String.fromCodePoint(codePoint));
}

/** Blocks of letters only, so that most text needs no regular expression: Latin, Cyrillic, kana, Han, Hangul. */
function isCommonLetter(codePoint: number): boolean {
  return (
    (codePoint >= 0xc0 && codePoint <= 0x24f && codePoint !== 0xd7 && codePoint !== 0xf7) ||
    (codePoint >= 0x400 && codePoint <= 0x481) ||
    (codePoint >= 0x3041 && codePoint <= 0x3096) ||
    (codePoint >= 0x30a1 && codePoint <= 0x30fa) ||
    (codePoint >= 0x4e00 && codePoint <= 0x9fff) ||
    (codePoint >= 0xac00 && codePoint <= 0xd7a3)
  );
}

export function isEmoji(codePoint: number): boolean {
  if (codePoint < 0x203c) return codePoint === 0xa9 || codePoint === 0xae;
  if (codePoint > 0x3299 && codePoint < 0x1f000) return false;
  return pictograph.test(String.fromCodePoint(codePoint));
}

/** Variation selector, keycap, skin tone or tag after a pictograph. */
export function isEmojiModifier(codePoint: number): boolean {
  return (
    codePoint === 0xfe0e ||
    codePoint === 0xfe0f ||
    codePoint === 0x20e3 ||
    (codePoint >= 0x1f3fb && codePoint <= 0x1f3ff) ||
    (codePoint >= 0xe0020 && codePoint <= 0xe007f)
  );
}

function isRegionalLetter(codePoint: number): boolean {
  return codePoint >= 0x1f1e6 && codePoint <= 0x1f1ff;
}

/** Scripts without spaces between words: a word may be found inside a run. */
export function isDense(text: string): boolean {
  return dense.test(text);
}

/** Whether X accepts the character without quotes. */
export function isPlainWord(value: string): boolean {
  for (let at = 0; at < value.length; at += 1) {
    const code = value.charCodeAt(at);
    if (code >= 0x80) return isPlainUnicode(value);
    if (isSeparator(code)) return false;
  }
  return true;
}

function isPlainUnicode(value: string): boolean {
  for (const character of value) {
    const codePoint = character.codePointAt(0) ?? 0;
    if (isEmoji(codePoint)) return isPlainEmoji(character, codePoint, value);
    // A keycap is a digit with a variation selector.
    if (isSeparator(codePoint) || isEmojiModifier(codePoint)) return false;
  }
  return true;
}

/** A single pictograph; one with a skin tone, joiner or flag needs quotes on X. */
function isPlainEmoji(character: string, codePoint: number, value: string): boolean {
  return character.length === value.length && !isEmojiModifier(codePoint) && !isRegionalLetter(codePoint);
}

/** Most values are lower-case ASCII and need no folding. */
function isAsciiLowerCase(text: string): boolean {
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code > 0x7f || (code >= 0x41 && code <= 0x5a)) return false;
  }
  return true;
}

function isAscii(text: string): boolean {
  for (let index = 0; index < text.length; index += 1) if (text.charCodeAt(index) > 0x7f) return false;
  return true;
}

/**
 * Rule values are stored in NFC and lower case, code point by code point. Mappings that change the number of code
 * points are not applied, nor is the final sigma: the printed rule must mean what was written.
 */
export function foldValue(text: string): string {
  if (isAsciiLowerCase(text)) return text;
  if (isAscii(text)) return text.toLowerCase();
  const composed = text.normalize('NFC');
  const lower = composed.toLowerCase();
  const plain = lower.length === composed.length && !composed.includes('Σ');
  return (plain ? lower : lowerEach(composed)).normalize('NFC');
}

function lowerEach(text: string): string {
  let folded = '';
  for (const character of text) {
    const lower = character.toLowerCase();
    folded += lower.length === character.length ? lower : character;
  }
  return folded;
}

/** For comparing values with post text: additionally applies the foldings that must not be printed. */
export function foldForMatch(text: string): string {
  if (isAscii(text)) return text.toLowerCase();
  return foldValue(text).replaceAll('ς', 'σ').replaceAll('İ', 'i').replaceAll('ſ', 's');
}
