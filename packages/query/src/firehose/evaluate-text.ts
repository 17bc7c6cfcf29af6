import type { LeafNode } from '../ast.ts';
import type { Evidence, LeafVerdict } from '../language.ts';
import { acceptsOf } from './accept.ts';
import { hasMark, type PlacedToken, type Sequence, type TextField } from './document.ts';
import { findInText, type Hit, splitTest, type TextTest } from './match-text.ts';
import { fields } from './tables.ts';

interface Found {
  readonly sequence: Sequence;
  readonly hit: Hit;
}

/**
 * A hit in a delivered passage is exact when both tokenizers find it. A miss is exact only when the whole text was
 * delivered: the diff of a match is an excerpt (firehose.md §13.2).
 */
export function judgeText(leaf: LeafNode, field: TextField): LeafVerdict {
  const standard = find(leaf, field, 'standard');
  if (standard === 'undecided') return unknown('the pattern is too complex to be decided here');
  if (field.complete && leaf.field !== 'title') return sure(leaf, standard);
  const split = isSensitive(leaf, field) ? find(leaf, field, 'split') : standard;
  const agrees = (split === null) === (standard === null);
  if (!field.complete && !agrees) {
    const found = standard ?? (split === 'undecided' ? null : split);
    const evidence = found === null ? [] : evidenceOf(leaf, found);
    return { ...unknown('depends on how the platform splits words'), evidence };
  }
  if (!field.complete && standard === null) return unknown('not in the delivered excerpt of the change');
  const verdict = sure(leaf, standard);
  // Patterns on text fields work in Lucene but are not documented for the platform.
  const documented = leaf.test.type === 'term' || leaf.test.type === 'phrase';
  return agrees && documented ? verdict : { ...verdict, confidence: 'approximate' };
}

function unknown(why: string): LeafVerdict {
  return { state: 'unknown', confidence: 'approximate', evidence: [], why };
}

function sure(leaf: LeafNode, found: Found | null): LeafVerdict {
  if (found === null) return { state: 'no_match', confidence: 'exact', evidence: [] };
  return { state: 'match', confidence: 'exact', evidence: evidenceOf(leaf, found) };
}

function find(leaf: LeafNode, field: TextField, variant: 'standard' | 'split'): Found | 'undecided' | null {
  const accepts = acceptsOf(leaf.test);
  let undecided = false;
  const test = variant === 'split' ? splitTest(leaf.test) : leaf.test;
  const textTest: TextTest = {
    test,
    removesStopWords: fields.get(leaf.field)?.stopWords === true,
    wholeField: field.complete,
    accepts: (token) => {
      const accepted = accepts(token);
      undecided ||= accepted === null;
      return accepted;
    },
  };
  for (const sequence of field.sequences(variant)) {
    const hit = findInText(sequence, textTest);
    if (hit !== null) return { sequence, hit };
  }
  return undecided ? 'undecided' : null;
}

function isSensitive(leaf: LeafNode, field: TextField): boolean {
  const words =
    leaf.test.type === 'term' ? [leaf.test.value] : leaf.test.type === 'phrase' ? leaf.test.words : [];
  return words.some(hasMark) || field.hasMarks();
}

/** One range from the first to the last word; a hit that spans passages has one range per word. */
function evidenceOf(leaf: LeafNode, { sequence, hit }: Found): Evidence[] {
  const tokens = hit.flatMap((position) => sequence[position] ?? []);
  const [first] = tokens;
  const last = tokens.at(-1);
  if (first === undefined || last === undefined) return [];
  if (first.passage === last.passage) return [rangeOf(leaf, first, last)];
  return tokens.map((token) => rangeOf(leaf, token, token));
}

function rangeOf(leaf: LeafNode, first: PlacedToken, last: PlacedToken): Evidence {
  const { path, text } = first.passage;
  const value = text.slice(first.start, last.end).slice(0, 200);
  return { rule: leaf.span, field: leaf.field, path, range: [first.start, last.end], value };
}
