import type { LeafNode, Node, NotNode } from '../ast.ts';
import type { Diagnostic } from '../diagnostics.ts';
import type { Parsed, Tier } from '../language.ts';
import type { ValueKind } from './operator.ts';
import { findOperator } from './tables.ts';
import { ambiguousAnd } from './validate/ambiguous-and.ts';
import { badCharacter } from './validate/bad-character.ts';
import { contextValue } from './validate/context-value.ts';
import { contradiction } from './validate/contradiction.ts';
import { countryCode } from './validate/country-code.ts';
import { embeddingText, embeddingThreshold } from './validate/embedding.ts';
import { emptyPhrase } from './validate/empty-phrase.ts';
import { geo } from './validate/geo.ts';
import { handle } from './validate/handle.ts';
import { knownLanguage } from './validate/language-code.ts';
import { languageConflict } from './validate/language-conflict.ts';
import { ruleLength } from './validate/length.ts';
import { lowercaseOr } from './validate/lowercase-or.ts';
import { negatedGroup } from './validate/negated-group.ts';
import { negationAllowed } from './validate/negation.ts';
import { notWord } from './validate/not-word.ts';
import { numberValue } from './validate/number-value.ts';
import { orPrecedence } from './validate/or-precedence.ts';
import { positiveClause } from './validate/positive-clause.ts';
import { postId } from './validate/post-id.ts';
import { proximity } from './validate/proximity.ts';
import { quotedValue } from './validate/quoted-value.ts';
import type { LeafRule, Place, TextRule, TreeRule } from './validate/rule.ts';
import { samplePlacement } from './validate/sample-placement.ts';
import { tagName } from './validate/tag-name.ts';
import { tierAvailable } from './validate/tier.ts';
import { unknownOperator } from './validate/unknown-operator.ts';
import { unquotedPunctuation } from './validate/unquoted-punctuation.ts';

const textRules: readonly TextRule[] = [ruleLength, badCharacter];

const valueRules: Readonly<Record<ValueKind, readonly LeafRule[]>> = {
  words: [ambiguousAnd, lowercaseOr, notWord, unquotedPunctuation, quotedValue, proximity],
  tag: [tagName],
  text: [quotedValue],
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
  none: [],
};

/** A rule that is wrong in more places than this is not helped by one more message. */
const diagnosticsMax = 100;

/** All findings in text order: those of the parser and those of every validation rule. */
export function diagnose(parsed: Omit<Parsed, 'tokens'>, tier: Tier): readonly Diagnostic[] {
  const { root, text } = parsed;
  if (root === null) return inOrder(parsed.diagnostics);
  const found: Diagnostic[] = [...parsed.diagnostics];
  const place: Place = { text, tier, report: (diagnostic) => found.push(diagnostic) };
  for (const rule of textRules) rule(place);
  const wanted = new Set<TreeRule>();
  checkNode(root, { place, wanted }, null, null);
  positiveClause(root, place);
  for (const rule of wanted) rule(root, place);
  return inOrder(found);
}

/** In text order. Where there are too many, errors stay: whether the rule is valid is read off this list. */
function inOrder(found: readonly Diagnostic[]): readonly Diagnostic[] {
  if (found.length < 2) return found;
  const kept =
    found.length <= diagnosticsMax
      ? found
      : found
          .toSorted((a, b) => Number(b.severity === 'error') - Number(a.severity === 'error'))
          .slice(0, diagnosticsMax);
  return kept.toSorted((a, b) => a.span[0] - b.span[0]);
}

interface Walk {
  readonly place: Place;
  /** Rules about the whole tree that only matter when an operator of theirs occurs. */
  readonly wanted: Set<TreeRule>;
}

/** One walk over the tree. An `and` inside an `and` is laid flat by the rules of the outer one. */
function checkNode(node: Node, walk: Walk, parent: Node | null, negation: NotNode | null): void {
  switch (node.kind) {
    case 'leaf':
      return checkLeaf(node, walk, negation);
    case 'not':
      negatedGroup(node, walk.place);
      return checkNode(node.child, walk, node, node);
    case 'or':
      orPrecedence(node, walk.place);
      break;
    case 'and':
      if (parent?.kind === 'and') break;
      languageConflict(node, walk.place);
      contradiction(node, walk.place);
      break;
    case 'never':
      return;
  }
  for (const child of node.children) checkNode(child, walk, node, negation);
}

function checkLeaf(leaf: LeafNode, { place, wanted }: Walk, negation: NotNode | null): void {
  const operator = findOperator(leaf.field);
  if (operator === undefined) return unknownOperator(leaf, place, negation);
  if (operator.negation !== undefined) negationAllowed(leaf, place, negation);
  if (operator.tier !== undefined) tierAvailable(leaf, place, negation);
  if (operator.value === 'sample') wanted.add(samplePlacement);
  if (operator.value === 'fraction') wanted.add(embeddingThreshold);
  emptyPhrase(leaf, place, negation);
  for (const rule of valueRules[operator.value]) rule(leaf, place, negation);
}
