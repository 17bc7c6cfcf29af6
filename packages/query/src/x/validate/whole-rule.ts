import type { LeafNode, Node } from '../../ast.ts';
import { certain, error, replacement } from '../../diagnostics.ts';
import { leavesOf } from '../../explain.ts';
import { cutting } from '../cut.ts';
import { orGrouping } from './or-precedence.ts';
import type { LeafRule, TextRule, TreeRule, View } from './rule.ts';

/** The unit is not documented; UTF-16 units are never fewer than characters. */
export const ruleLength: TextRule = (view) => {
  const limit = view.dialect.lengthMax[view.tier];
  if (view.text.length <= limit) return;
  const message = `The rule has ${view.text.length} characters; ${view.dialect.name} takes ${limit}. Split it into several rules.`;
  view.report(error('too_long', message, [limit, view.text.length]));
};

const unsendable =
  // oxlint-disable-next-line no-control-regex -- the rule looks for them
  /[\u0000-\u0008\u000E-\u001F\u007F-\u009F\u200B\u2060\u202A-\u202E\u2066-\u2069\p{Cs}\uFFFE\uFFFF]+/gu;

/** Control characters, halves of surrogate pairs, and invisible ones that come with copied text. */
export const badCharacter: TextRule = (view) => {
  if (isPrintableAscii(view.text)) return;
  for (const { 0: found, index } of view.text.matchAll(unsendable)) {
    const span = [index, index + found.length] as const;
    const message = `An invisible character (U+${(found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}) stands here. Remove it.`;
    view.report(error('bad_character', message, span, [certain(replacement('Remove it', span, ''))]));
  }
};

/** True for almost every rule; the loop is cheaper than the regular expression. */
function isPrintableAscii(text: string): boolean {
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code < 0x20 || code > 0x7e) return false;
  }
  return true;
}

/** X refuses operators that the account's plan does not include. */
export const tierAvailable: LeafRule = (leaf, view) => {
  const needed = view.dialect.findOperator(leaf.field)?.tier;
  if (needed === undefined || needed === view.tier) return;
  const message = `${leaf.field}: needs X's Enterprise plan with the Embedding tier. List the words themselves instead.`;
  view.report(error('unavailable_operator', message, leaf.span));
};

/** `sample:` applies to the whole rule: once, and outside every OR (x.md §10.1). */
export const samplePlacement: TreeRule = (root, view) => {
  const seen: LeafNode[] = [];
  walk(root, null, view, seen);
  for (const leaf of seen.slice(1)) {
    const message = 'sample: may stand once in a rule; it applies to the whole rule.';
    const fix = cutting('Remove this one', view.text, leaf.span);
    view.report(error('several_samples', message, leaf.span, [fix]));
  }
};

function walk(node: Node, or: Node | null, view: View, seen: LeafNode[]): void {
  if (node.kind === 'leaf') {
    if (node.field !== 'sample') return;
    seen.push(node);
    if (or !== null) reportInsideOr(node, or, view);
  } else if (node.kind === 'not') {
    walk(node.child, or, view, seen);
  } else if (node.kind !== 'never') {
    for (const child of node.children) walk(child, node.kind === 'or' ? node : or, view, seen);
  }
}

function reportInsideOr(leaf: LeafNode, or: Node, view: View): void {
  const fix = orGrouping(or, 'Group the OR', view);
  const message = 'sample: applies to the whole rule. Put everything that OR joins in parentheses before it.';
  view.report(error('sample_needs_group', message, leaf.span, fix === null ? [] : [certain(fix)]));
}

/** The description of `embedding:` must be quoted. */
export const embeddingText: LeafRule = (leaf, view) => {
  if (leaf.test.type === 'phrase' && leaf.test.words.length > 0) return;
  if (leaf.valueSpan[0] === leaf.valueSpan[1] && leaf.test.type !== 'phrase') return;
  const written = view.text.slice(leaf.valueSpan[0], leaf.valueSpan[1]);
  const message = 'embedding: takes a description in quotes.';
  const fixes =
    leaf.test.type === 'phrase' || written.endsWith('\\')
      ? []
      : [certain(replacement('Quote it', leaf.valueSpan, `"${written}"`))];
  view.report(error('unquoted_value', message, leaf.valueSpan, fixes));
};

/** `embedding_threshold:` belongs to an `embedding:` of the same rule. */
export const embeddingThreshold: TreeRule = (root, view) => {
  const leaves = leavesOf(root);
  const threshold = leaves.find(({ field }) => field === 'embedding_threshold');
  if (threshold === undefined || leaves.some(({ field }) => field === 'embedding')) return;
  const message = 'embedding_threshold: sets the similarity of an embedding: clause, and this rule has none.';
  const fix = cutting('Remove it', view.text, threshold.span);
  view.report(error('threshold_without_embedding', message, threshold.span, [fix]));
};
