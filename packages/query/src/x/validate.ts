import type { LeafNode, Node, NotNode } from '../ast.ts';
import { type Diagnostic, inTextOrder } from '../diagnostics.ts';
import { fullWidth } from '../full-width.ts';
import type { Parsed, Tier } from '../language.ts';
import type { Dialect } from './dialect.ts';
import type { ValueKind } from './operator.ts';
import { breadth } from './validate/breadth.ts';
import { contradiction, nestedContradiction, valueConflict } from './validate/conflicts.ts';
import { geo } from './validate/geo.ts';
import { list, listsOf } from './validate/list.ts';
import { negatedGroup, negationAllowed } from './validate/negations.ts';
import { numberValue } from './validate/number-value.ts';
import { orPrecedence } from './validate/or-precedence.ts';
import { positiveClause } from './validate/positive-clause.ts';
import { quotedSyntax, quotedValue } from './validate/quotes.ts';
import type { LeafRule, TextRule, TreeRule, View } from './validate/rule.ts';
import { unknownOperator } from './validate/unknown-operator.ts';
import { unquotedPunctuation } from './validate/unquoted-punctuation.ts';
import { contextValue, countryCode, handle, knownLanguage, postId, tagName } from './validate/values.ts';
import {
  badCharacter,
  embeddingText,
  embeddingThreshold,
  ruleLength,
  samplePlacement,
  tierAvailable,
} from './validate/whole-rule.ts';
import { ambiguousAnd, emptyPhrase, lowercaseOr, notWord, proximity, sentence } from './validate/words.ts';

const textRules: readonly TextRule[] = [ruleLength, badCharacter, list];

/** The checks of a value, by its kind. */
export type ValueRules = Readonly<Partial<Record<ValueKind, readonly LeafRule[]>>>;

/** What an operator of words, tags or texts accepts is a part of the grammar. */
export const commonValueRules: ValueRules = {
  words: [ambiguousAnd, lowercaseOr, notWord, unquotedPunctuation, quotedValue, quotedSyntax, proximity],
  tag: [tagName],
  text: [quotedValue],
};

export const xValueRules: ValueRules = {
  ...commonValueRules,
  handle: [handle],
  id: [postId],
  lang: [knownLanguage],
  country: [countryCode],
  count: [numberValue],
  integer: [numberValue],
  sample: [numberValue],
  fraction: [numberValue],
  circle: [geo],
  box: [geo],
  context: [contextValue],
  sentence: [embeddingText],
};

export interface Checks {
  readonly dialect: Dialect;
  readonly valueRules: ValueRules;
  readonly tier: Tier;
}

/** The diagnostics of the parser and of every validation rule, in text order. */
export function diagnose(
  parsed: Omit<Parsed, 'tokens'>,
  { dialect, valueRules, tier }: Checks,
): readonly Diagnostic[] {
  const { root, text } = parsed;
  if (root === null) return inTextOrder(parsed.diagnostics);
  const found: Diagnostic[] = [...parsed.diagnostics];
  const view: View = {
    text,
    dialect,
    tier,
    lists: listsOf(text),
    report: (diagnostic) => found.push(diagnostic),
  };
  for (const rule of textRules) rule(view);
  fullWidth(text, (found) => view.report(found));
  const wanted = new Set<TreeRule>();
  checkNode(root, { view, valueRules, wanted }, null, null);
  if (positiveClause(root, view)) breadth(root, view);
  for (const rule of wanted) rule(root, view);
  if (text.includes('(') && found.every(({ severity }) => severity !== 'error'))
    nestedContradiction(root, view);
  return inTextOrder(found);
}

interface Walk {
  readonly view: View;
  readonly valueRules: ValueRules;
  /** Rules about the whole tree that apply only when their operator occurs. */
  readonly wanted: Set<TreeRule>;
}

/** Walks the tree once. The rules of an `and` flatten those nested in it. */
function checkNode(node: Node, walk: Walk, parent: Node | null, negation: NotNode | null): void {
  switch (node.kind) {
    case 'leaf':
      return checkLeaf(node, walk, negation);
    case 'not':
      negatedGroup(node, walk.view);
      return checkNode(node.child, walk, node, node);
    case 'or':
      orPrecedence(node, walk.view);
      break;
    case 'and':
      if (parent?.kind === 'and') break;
      valueConflict(node, walk.view);
      contradiction(node, walk.view);
      sentence(node, walk.view);
      break;
    case 'never':
      return;
  }
  for (const child of node.children) checkNode(child, walk, node, negation);
}

function checkLeaf(leaf: LeafNode, { view, valueRules, wanted }: Walk, negation: NotNode | null): void {
  const operator = view.dialect.findOperator(leaf.field);
  if (operator === undefined) return unknownOperator(leaf, view, negation);
  if (operator.negation !== undefined) negationAllowed(leaf, view, negation);
  if (operator.tier !== undefined) tierAvailable(leaf, view, negation);
  if (operator.value === 'sample') wanted.add(samplePlacement);
  if (operator.value === 'fraction') wanted.add(embeddingThreshold);
  emptyPhrase(leaf, view, negation);
  for (const rule of valueRules[operator.value] ?? []) rule(leaf, view, negation);
}
