import { commonWords } from './common-words.ts';
import { mergedLetters } from './merged-letters.ts';

/**
 * How many tokens a text has at most. No tokenizer is at hand at run time, and which one the client's model has is
 * unknown; the yardstick is o200k, a byte-level BPE. Such a tokenizer first cuts a text into pieces (words with the
 * character before, up to three digits, punctuation, space) and then merges within a piece whatever its vocabulary
 * has. So a piece that is itself in the vocabulary is one token, and no piece has more tokens than its characters
 * have apart. That holds for what strangers make up, too: an average would not.
 */
export type EstimateTokens = (text: string) => number;

const pieces = /[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|[0-9]{1,3}|\p{N}| ?[^\s\p{L}\p{N}]+|\s+/gu;
const smallWord = /^([^\p{L}]?)([A-Z]?)([a-z]*)$/u;

/** Pieces of our own frame that are one token each, as they come. */
const frame = new Set([
  ...['":"', '","', '":', '",', '{"', '"}', '"},{"', '":{"', '"}}', '":["', '"]', '":[', '}}', '},"', '</'],
  ...['\n', '\n\n', ' |', '_id', '_at', '_version', '_out', '_cursor', '-content', 'null', 'true', 'false'],
  ...['match', 'rule', 'version', 'source', 'author', 'handle', 'name', 'url', 'published', 'text', 'title'],
  ...[
    'platform',
    'matched',
    'via',
    'stream',
    'search',
    'cut',
    'content',
    'language',
    'why',
    'post',
    'counts',
  ],
  ...['found', 'shown', 'left', 'next', 'cursor', 'coverage', 'complete', 'matches', 'mat', 'type'],
]);

/** Characters with fewer tokens than bytes: from, to, tokens at most. */
export const cheapCharacters: ReadonlyArray<readonly [number, number, number]> = [
  [0xa0, 0xcf, 1],
  [0xe0, 0xff, 1],
  [0x410, 0x44f, 1],
  [0x5d0, 0x5df, 1],
  [0x640, 0x64f, 1],
  [0x900, 0xe5f, 2],
  [0x2000, 0x233f, 2],
  [0x3000, 0x317f, 2],
  [0x4e00, 0x5d3f, 2],
  [0x5dc0, 0x6abf, 2],
  [0x6b00, 0x877f, 2],
  [0x8840, 0x977f, 2],
  [0xac00, 0xad7f, 2],
  [0xc500, 0xc7bf, 2],
  [0xff20, 0xffef, 2],
  [0x1f300, 0x1f53f, 2],
  [0x1f600, 0x1f6bf, 2],
  [0x1f900, 0x1f97f, 2],
];

export function createEstimateTokens(): EstimateTokens {
  const words = new Set(commonWords.trim().split(/\s+/));
  const merged = new Set(
    mergedLetters
      .trim()
      .split(/\s+/)
      .flatMap(([a, b, ...thirds]) => [`${a}${b}`, ...thirds.map((third) => `${a}${b}${third}`)]),
  );
  const tokensOfPiece = (piece: string): number => {
    if (frame.has(piece) || /^[0-9]+$/.test(piece)) return 1;
    const [, before, capital, small] = smallWord.exec(piece) ?? [];
    if (before === undefined || capital === undefined || small === undefined) return tokensApart(piece);
    const word = capital.toLowerCase() + small;
    if (before === ' ' && (word.length === 1 || words.has(word))) return 1;
    return tokensApart(before) + capital.length + tokensOfSmallLetters(small, merged);
  };
  return (text) => {
    let tokens = 0;
    for (const [piece] of text.matchAll(pieces)) tokens += tokensOfPiece(piece);
    return tokens;
  };
}

/**
 * The most tokens that these letters can end as. Two neighbours that together are a token would have been merged, as
 * far as `merged` knows: it has tokens of two and three letters. `best[end][size]` is the most up to `end` with a last
 * token of that size, 3 standing for three and more: of those, six letters and more would only be fewer tokens.
 */
function tokensOfSmallLetters(letters: string, merged: ReadonlySet<string>): number {
  const best: Array<[number, number, number, number]> = [[0, 0, 0, 0]];
  for (let end = 1; end <= letters.length; end += 1) {
    const most: [number, number, number, number] = [-Infinity, -Infinity, -Infinity, -Infinity];
    for (let size = 1; size <= Math.min(5, end); size += 1) {
      if (size === 2 && !merged.has(letters.slice(end - 2, end))) continue;
      const before = best[end - size] ?? [0, 0, 0, 0];
      for (const last of [1, 2, 3] as const) {
        if (merged.has(letters.slice(Math.max(0, end - size - last), end)) && end > size) continue;
        const kind = size > 2 ? 3 : size === 2 ? 2 : 1;
        most[kind] = Math.max(most[kind], before[last] + 1);
      }
    }
    best.push(most);
  }
  return Math.max(...(best.at(-1) ?? [0]).slice(1));
}

function tokensApart(text: string): number {
  let tokens = 0;
  for (const character of text) tokens += tokensOfCharacter(character.codePointAt(0) ?? 0);
  return tokens;
}

function tokensOfCharacter(code: number): number {
  if (code < 0x80) return 1;
  const cheap = cheapCharacters.find(([from, to]) => code >= from && code <= to);
  if (cheap) return cheap[2];
  return code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
}
