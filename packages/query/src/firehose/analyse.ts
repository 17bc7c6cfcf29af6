import type { LeafNode, Node, Span, Test } from '../ast.ts';
import type { Atom } from './surface.ts';
import { fields } from './tables.ts';
import { isStopWord, lowerCase, wordsOf } from './tokenize.ts';

/**
 * The meaning of one atom on its field; null when text analysis removes all of it, in which case Lucene drops the
 * clause. An unknown field is analysed as text, as by Lucene's default.
 */
export function analyse(field: string, atom: Atom, span: Span): Node | null {
  const leaf = (test: Test): LeafNode => ({ kind: 'leaf', field, test, span, valueSpan: atom.span });
  const row = fields.get(field);
  const isText = row === undefined || row.type === 'text';
  if (row?.type === 'filter') return leaf({ type: 'opaque', value: normalWindow(atom.value) });
  const fold = (value: string): string => (isText ? lowerCase(value) : value);
  switch (atom.kind) {
    case 'prefix':
      return leaf({ type: 'prefix', value: fold(atom.value) });
    case 'wildcard':
      return leaf(wildcardTest(fold(atom.value)));
    case 'regex':
      return leaf({ type: 'regex', source: atom.value });
    case 'range':
      return leaf(rangeTest(atom, fold));
    case 'term':
    case 'quoted':
    case 'lone_sign':
      if (atom.kind === 'term' && atom.slop !== null) return leaf(fuzzyTest(atom, fold(atom.value)));
      if (!isText) return leaf({ type: 'term', value: atom.value });
      return textNode(atom, row?.stopWords === true, leaf);
  }
}

function textNode(atom: Atom, removesStopWords: boolean, leaf: (test: Test) => LeafNode): Node | null {
  const words = wordsOf(atom.value);
  const kept = removesStopWords ? words.filter((word) => !isStopWord(word)) : words;
  const [first] = kept;
  if (first === undefined) return null;
  const written = writtenText(atom.value, words);
  if (words.length === 1) return leaf({ type: 'term', value: first, ...written });
  // Stop words stay in the phrase, because they keep their positions in the rule and in the text.
  if (atom.kind === 'quoted')
    return leaf({ type: 'phrase', words, slop: Math.trunc(atom.slop?.value ?? 0), ...written });
  // An unquoted word of several tokens is an OR of them, not a phrase.
  const children = [...new Set(kept)].map((value) => leaf({ type: 'term', value }));
  return children.length === 1 ? (children[0] ?? null) : { kind: 'or', children, span: atom.span };
}

/** Which tokenizer the platform uses is not known, so `任天堂`, `AT&T` and emoji are registered as written. */
function writtenText(value: string, words: readonly string[]): { readonly written?: string } {
  const written = lowerCase(value)
    .replaceAll(/^[\s.,;:!?()¿¡…-]+|[\s.,;:!?()…-]+$/g, '')
    .replaceAll(/\s+/g, ' ');
  return written === words.join(' ') ? {} : { written };
}

function wildcardTest(pattern: string): Test {
  const stem = pattern.slice(0, -1);
  const isPrefix = pattern.length > 1 && pattern.endsWith('*') && !/[*?\\]/.test(stem);
  return isPrefix ? { type: 'prefix', value: stem } : { type: 'wildcard', pattern };
}

function rangeTest({ range }: Atom, fold: (value: string) => string): Test {
  const bound = (value: string | null | undefined): string | null => (value == null ? null : fold(value));
  return {
    type: 'range',
    low: bound(range?.low),
    high: bound(range?.high),
    // Inclusion has no meaning at an open end; it is normalised so that equal rules stay equal.
    includeLow: range?.low == null || range.includeLow,
    includeHigh: range?.high == null || range.includeHigh,
  };
}

/** A whole number is a number of edits, at most two; below one it is the old similarity ratio. */
function fuzzyTest(atom: Atom, value: string): Test {
  const fuzziness = Math.fround(atom.slop?.value ?? 2);
  const share = Math.trunc((1 - fuzziness) * Array.from(value).length);
  const distance = fuzziness >= 1 ? Math.trunc(fuzziness) : fuzziness === 0 ? 0 : share;
  return { type: 'fuzzy', value, distance: Math.min(distance, 2) };
}

/** Normalises the unit: `24h` and `1d` are the same window. */
function normalWindow(value: string): string {
  const hours = /^([1-9][0-9]{0,5})h$/.exec(value)?.[1];
  return hours !== undefined && Number(hours) % 24 === 0 ? `${Number(hours) / 24}d` : value;
}
