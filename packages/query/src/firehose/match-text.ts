import type { Test } from '../ast.ts';
import { spend } from '../budget.ts';
import type { Sequence } from './document.ts';
import { isStopWord, tokenize } from './tokenize.ts';

/** Positions of the tokens that satisfy a test, in text order. */
export type Hit = readonly number[];

export interface TextTest {
  readonly test: Test;
  /** Stop words are not in the index of this field, but keep their positions. */
  readonly removesStopWords: boolean;
  /** The sequence is the whole field, so a stop word before a phrase needs its own position. */
  readonly wholeField: boolean;
  /** For tests on single tokens other than equality. */
  readonly accepts: (token: string) => boolean | null;
}

/** The first occurrence; null when there is none. */
export function findInText(
  tokens: Sequence,
  { test, removesStopWords, wholeField, accepts }: TextTest,
): Hit | null {
  if (test.type === 'phrase') {
    const words = test.words
      .map((word, place) => ({ word, place }))
      .filter(({ word }) => !(removesStopWords && isStopWord(word)));
    return test.slop > 0 ? findNear(tokens, words, test.slop) : findPhrase(tokens, words, wholeField);
  }
  if (test.type === 'term') {
    const position = firstPositionOf(tokens, test.value);
    return position === undefined || (removesStopWords && isStopWord(test.value)) ? null : [position];
  }
  spend(stepsPerToken * tokens.length);
  for (const [position, { term }] of tokens.entries()) {
    if (accepts(term) === true && !(removesStopWords && isStopWord(term))) return [position];
  }
  return null;
}

const stepsPerToken = 3;
const stepsPerIndexed = 10;
const stepsPerShift = 15;

const firstPositions = new WeakMap<Sequence, ReadonlyMap<string, number>>();

/** Indexes a page once, because a rule may search it for hundreds of words. */
function firstPositionOf(tokens: Sequence, term: string): number | undefined {
  let positions = firstPositions.get(tokens);
  if (positions === undefined) {
    spend(stepsPerIndexed * tokens.length);
    const first = new Map<string, number>();
    for (const [position, { term }] of tokens.entries()) if (!first.has(term)) first.set(term, position);
    positions = first;
    firstPositions.set(tokens, positions);
  }
  return positions.get(term);
}

interface PlacedWord {
  readonly word: string;
  readonly place: number;
}

function findPhrase(tokens: Sequence, words: readonly PlacedWord[], wholeField: boolean): Hit | null {
  const [first] = words;
  if (first === undefined) return null;
  // To Lucene a single word is not a phrase, and positions do not matter.
  const from = wholeField && words.length > 1 ? first.place : 0;
  const start = firstPositionOf(tokens, first.word) ?? tokens.length;
  spend(tokens.length - start);
  for (let position = Math.max(from, start); position < tokens.length; position += 1) {
    if (tokens[position]?.term !== first.word) continue;
    const shift = position - first.place;
    spend(words.length);
    if (words.every(({ word, place }) => tokens[place + shift]?.term === word)) {
      return words.map(({ place }) => place + shift);
    }
  }
  return null;
}

/**
 * Proximity: with positions q in the rule and p in the text, the shifts p − q of all words must lie within `slop` of
 * each other, and a word that occurs twice in the rule needs two positions in the text. Every
 * possible lowest shift is tried; within its window each word takes the earliest free position, which is best
 * because all windows are equally long.
 */
function findNear(tokens: Sequence, words: readonly PlacedWord[], slop: number): Hit | null {
  spend(stepsPerToken * tokens.length);
  const positions = new Map<string, number[]>(words.map(({ word }) => [word, []]));
  tokens.forEach(({ term }, position) => positions.get(term)?.push(position));
  const shifts = new Set<number>();
  for (const { word, place } of words)
    for (const position of positions.get(word) ?? []) {
      spend(stepsPerShift);
      shifts.add(position - place);
    }
  for (const shift of [...shifts].toSorted((a, b) => a - b)) {
    const hit = nearAt(words, positions, shift, slop);
    if (hit !== null) return hit.toSorted((a, b) => a - b);
  }
  return null;
}

function nearAt(
  words: readonly PlacedWord[],
  positions: ReadonlyMap<string, readonly number[]>,
  shift: number,
  slop: number,
): number[] | null {
  const taken = new Set<number>();
  for (const { word, place } of words) {
    spend(stepsPerShift);
    const list = positions.get(word) ?? [];
    let index = firstAtLeast(list, shift + place);
    while (taken.has(list[index] ?? -1)) {
      spend(1);
      index += 1;
    }
    const position = list[index];
    if (position === undefined || position > shift + place + slop) return null;
    taken.add(position);
  }
  return [...taken];
}

function firstAtLeast(sorted: readonly number[], value: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? 0) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The same test for a tokenizer that splits at every punctuation mark. */
export function splitTest(test: Test): Test {
  if (test.type !== 'term' && test.type !== 'phrase') return test;
  const source = test.type === 'term' ? [test.value] : test.words;
  const words = source.flatMap((word) => tokenize(word, 'split').map((token) => token.term));
  const [only] = words;
  if (only !== undefined && words.length === 1) return { type: 'term', value: only };
  return { type: 'phrase', words, slop: test.type === 'phrase' ? test.slop : 0 };
}
