import type { LeafNode, Span } from '../../ast.ts';
import { spend } from '../../budget.ts';
import type { LeafVerdict, Verdict } from '../../language.ts';
import { isDense } from '../characters.ts';
import type { Source } from '../document.ts';
import { type TextToken, tokenize } from '../tokenize.ts';
import { contentMiss, hit, type LeafEvaluator, termOf, unknown } from './verdict.ts';

/** Words, phrases and proximity in the text and links of the content. Always approximate, because X's tokenizer is not known exactly. */
export const keyword: LeafEvaluator = (leaf, document) => {
  const found = search(leaf, document.texts());
  if (found !== null) return found;
  const emoji = termOf(leaf);
  if (/\p{Extended_Pictographic}/u.test(emoji) && document.texts().some(({ text }) => text.includes(emoji)))
    return unknown('X may read an emoji with a skin tone or joiner as another word');
  return contentMiss(leaf, document, 'approximate', 'the words are not in the post');
};

/** The first occurrence of the leaf's words, or null. */
export function search(
  leaf: LeafNode,
  sources: readonly Source[],
  confidence: Verdict['confidence'] = 'approximate',
): LeafVerdict | null {
  const words = wordsOf(leaf);
  if (words.length === 0) return null;
  const slop = slopOf(leaf);
  for (const { path, text, tokens } of sources) {
    const range = findWords(tokens(), words, slop);
    if (range !== null) return hit(leaf, confidence, { path, range, value: text.slice(range[0], range[1]) });
  }
  return null;
}

export function slopOf({ test }: LeafNode): number {
  return test.type === 'phrase' ? test.slop : 0;
}

const stepsPerToken = 3;
const stepsPerOccurrence = 20;
const stepsPerRun = 15;

const wordsByLeaf = new WeakMap<LeafNode, readonly TextToken[]>();

/** Caches the tokens of a leaf, which is searched in many posts. */
function wordsOf(leaf: LeafNode): readonly TextToken[] {
  const known = wordsByLeaf.get(leaf);
  if (known !== undefined) return known;
  const words = tokenize(termOf(leaf));
  wordsByLeaf.set(leaf, words);
  return words;
}

export function findWords(
  tokens: readonly TextToken[],
  words: readonly TextToken[],
  slop: number,
): Span | null {
  if (slop > 0 && words.length > 1) return findNear(tokens, words, slop);
  spend(stepsPerToken * tokens.length);
  for (let at = 0; at + words.length <= tokens.length; at += 1) {
    const range = phraseAt(tokens, words, at);
    if (range !== null) return range;
  }
  return null;
}

function phraseAt(tokens: readonly TextToken[], words: readonly TextToken[], at: number): Span | null {
  let start = -1;
  let end = -1;
  for (let index = 0; index < words.length; index += 1) {
    if (index > 0) spend(stepsPerToken);
    const token = tokens[at + index];
    const word = words[index];
    const range = token === undefined || word === undefined ? null : tokenRange(token, word);
    if (range === null) return null;
    if (index === 0) start = range[0];
    end = range[1];
  }
  return [start, end];
}

/** Searches inside runs of scripts without spaces; any other token must match as a whole. */
function tokenRange(token: TextToken, word: TextToken): Span | null {
  if (token.value === word.value) return [token.start, token.end];
  if (!token.dense) return null;
  const found = findInside(token.value, word);
  if (found < 0) return null;
  // Folding may change the length; the evidence is then the whole run.
  if (token.value.length !== token.end - token.start) return [token.start, token.end];
  return [token.start + found, token.start + found + word.value.length];
}

/** `ice` is in `ice氷河` but not in `iceberg氷河`: a word of a script with spaces ends where the other script starts. */
function findInside(run: string, { value, dense }: TextToken): number {
  spend(stepsPerRun + (run.length >> 2));
  for (let at = run.indexOf(value); at >= 0; at = run.indexOf(value, at + 1)) {
    spend(stepsPerRun);
    if (dense || (isEdge(run.charAt(at - 1)) && isEdge(run.charAt(at + value.length)))) return at;
  }
  return -1;
}

function isEdge(neighbour: string): boolean {
  return neighbour === '' || isDense(neighbour);
}

interface Occurrence {
  readonly word: number;
  readonly position: number;
  readonly range: Span;
}

/**
 * Lucene's slop, which x.md §11 describes: with each word's position reduced by its place in the phrase, the widest
 * difference is at most N. In order that allows N words between, reversed N − 2. One sweep over the occurrences.
 */
function findNear(tokens: readonly TextToken[], words: readonly TextToken[], slop: number): Span | null {
  const occurrences = occurrencesOf(tokens, words).toSorted((a, b) => a.position - b.position);
  spend(stepsPerToken * occurrences.length);
  const counts = words.map(() => 0);
  let distinct = 0;
  let first = 0;
  for (const [last, occurrence] of occurrences.entries()) {
    counts[occurrence.word] = (counts[occurrence.word] ?? 0) + 1;
    if (counts[occurrence.word] === 1) distinct += 1;
    for (
      let oldest = occurrences[first];
      oldest !== undefined && occurrence.position - oldest.position > slop;
      oldest = occurrences[first]
    ) {
      counts[oldest.word] = (counts[oldest.word] ?? 0) - 1;
      if (counts[oldest.word] === 0) distinct -= 1;
      first += 1;
    }
    if (distinct === words.length) return hull(occurrences.slice(first, last + 1));
  }
  return null;
}

/** Only a token of a script without spaces has to be compared with every word. */
function occurrencesOf(tokens: readonly TextToken[], words: readonly TextToken[]): Occurrence[] {
  const all = [...words.keys()];
  const placesOf = Map.groupBy(all, (index) => words[index]?.value);
  spend(stepsPerToken * (tokens.length + words.length));
  return tokens.flatMap((token, at) =>
    (token.dense ? all : (placesOf.get(token.value) ?? [])).flatMap((index) => {
      spend(stepsPerOccurrence);
      const word = words[index];
      const range = word === undefined ? null : tokenRange(token, word);
      return range === null ? [] : [{ word: index, position: at - index, range }];
    }),
  );
}

function hull(occurrences: readonly Occurrence[]): Span {
  return occurrences
    .map(({ range }) => range)
    .reduce((all, range) => [Math.min(all[0], range[0]), Math.max(all[1], range[1])]);
}
