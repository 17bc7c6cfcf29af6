import type { LeafNode, Span } from '../../ast.ts';
import type { Evidence, LeafVerdict, Verdict } from '../../language.ts';
import type { XDocument } from '../document.ts';

export type LeafEvaluator = (leaf: LeafNode, document: XDocument) => LeafVerdict;

type Confidence = Verdict['confidence'];

const valueLengthMax = 200;
const contradictionsMax = 20;

export interface Where {
  readonly path: string;
  readonly value: string;
  readonly range?: Span;
}

function evidenceOf(leaf: LeafNode, { path, value, range }: Where): Evidence {
  return {
    rule: leaf.span,
    field: leaf.field,
    path,
    range: range ?? null,
    value: value.slice(0, valueLengthMax),
  };
}

export function hit(leaf: LeafNode, confidence: Confidence, ...where: readonly Where[]): LeafVerdict {
  return { state: 'match', confidence, evidence: where.map((found) => evidenceOf(leaf, found)) };
}

/** `where` are the values that contradict the leaf, if the item has any. */
export function miss(
  leaf: LeafNode,
  confidence: Confidence,
  why: string,
  ...where: readonly Where[]
): LeafVerdict {
  const evidence = where.slice(0, contradictionsMax).map((found) => evidenceOf(leaf, found));
  return { state: 'no_match', confidence, evidence, why };
}

export function unknown(why: string): LeafVerdict {
  return { state: 'unknown', confidence: 'approximate', evidence: [], why };
}

/** A miss in the content is conclusive only when the retweeted and quoted posts were delivered too. */
export function contentMiss(
  leaf: LeafNode,
  document: XDocument,
  confidence: Confidence,
  why: string,
): LeafVerdict {
  if (!document.complete) return unknown('the retweeted or quoted post was not delivered');
  return miss(leaf, confidence, why);
}

/** The value as it was written, for codes, ids and names. */
export function termOf(leaf: LeafNode): string {
  const { test } = leaf;
  if (test.type === 'term' || test.type === 'opaque') return test.value;
  return test.type === 'phrase' ? test.words.join(' ') : '';
}
