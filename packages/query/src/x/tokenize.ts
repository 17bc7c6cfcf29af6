import { spend } from '../budget.ts';
import { foldForMatch, isDense, isEmoji, isEmojiModifier, isSeparator } from './characters.ts';

/** One word of a post or of a rule value, with its place in the original string. */
export interface TextToken {
  readonly value: string;
  readonly start: number;
  readonly end: number;
  /** Written without spaces between words (Chinese, Japanese, Thai …): rule words are searched inside it. */
  readonly dense: boolean;
}

const stepsPerCharacter = 2;
const stepsPerToken = 10;
/** Decided by regular expressions, and folded. */
const stepsPerUnicode = 20;

const escapes = ['&amp;', '&lt;', '&gt;'] as const;

/**
 * Splits at punctuation, symbols, separators and controls; every emoji is a separate token; case and normal form are
 * ignored, accents are not (x.md §11).
 */
export function tokenize(text: string): TextToken[] {
  spend(stepsPerToken + stepsPerCharacter * text.length);
  const tokens: TextToken[] = [];
  let wordStart = -1;
  let ascii = true;
  const endWord = (end: number): void => {
    if (wordStart >= 0) tokens.push(wordToken(text, wordStart, end, ascii));
    wordStart = -1;
    ascii = true;
  };
  for (let at = 0; at < text.length; ) {
    const codePoint = text.codePointAt(at) ?? 0;
    const width = codePoint > 0xffff ? 2 : 1;
    if (codePoint > 0x7f) spend(stepsPerUnicode);
    if (isEmoji(codePoint)) {
      endWord(at);
      spend(stepsPerUnicode);
      const end = emojiEnd(text, at);
      tokens.push({
        value: text.slice(at, end).replaceAll(/[\uFE0E\uFE0F]/g, ''),
        start: at,
        end,
        dense: false,
      });
      at = end;
    } else if (isSeparator(codePoint)) {
      endWord(at);
      at += codePoint === 0x26 ? escapeLength(text, at) : width;
    } else {
      if (wordStart < 0) wordStart = at;
      if (codePoint > 0x7f) ascii = false;
      at += width;
    }
  }
  endWord(text.length);
  return tokens;
}

function wordToken(text: string, start: number, end: number, ascii: boolean): TextToken {
  spend(stepsPerToken);
  const word = text.slice(start, end);
  if (ascii) return { value: word.toLowerCase(), start, end, dense: false };
  return { value: foldForMatch(word), start, end, dense: isDense(word) };
}

/** X delivers `&`, `<` and `>` escaped; the letters of the escape are not words of the post. */
function escapeLength(text: string, at: number): number {
  return escapes.find((escape) => text.startsWith(escape, at))?.length ?? 1;
}

/** A pictograph with its modifiers and everything joined to it; two regional letters make a flag. */
function emojiEnd(text: string, start: number): number {
  const first = text.codePointAt(start) ?? 0;
  let at = start + (first > 0xffff ? 2 : 1);
  if (isRegional(first) && isRegional(text.codePointAt(at) ?? 0)) return at + 2;
  for (;;) {
    const codePoint = text.codePointAt(at);
    if (codePoint === undefined) return at;
    const width = codePoint > 0xffff ? 2 : 1;
    const joinedNext = codePoint === 0x200d ? text.codePointAt(at + 1) : undefined;
    if (joinedNext !== undefined && isEmoji(joinedNext)) at += 1 + (joinedNext > 0xffff ? 2 : 1);
    else if (isEmojiModifier(codePoint)) at += width;
    else return at;
  }
}

function isRegional(codePoint: number): boolean {
  return codePoint >= 0x1f1e6 && codePoint <= 0x1f1ff;
}
