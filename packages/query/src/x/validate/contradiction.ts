import type { Node } from '../../ast.ts';
import { error } from '../../diagnostics.ts';
import { isContradictory } from '../canonical.ts';
import { cutting } from '../cut.ts';
import { implied, ofPlaces } from '../exclusions.ts';
import { printNode } from '../print.ts';
import { conjuncts, type NodeRule, shown, type TreeRule } from './rule.ts';

/** Clauses that cannot all hold for one post. */
export const contradiction: NodeRule<'and'> = (node, view) => {
  const clauses = conjuncts(node);
  const required = clauses.filter((clause) => clause.kind === 'leaf');
  const excluded = clauses.filter(isExcludedLeaf);
  if (required.length === 0) return;
  const place = required.find(({ field }) => ofPlaces.has(field));
  if (place !== undefined && required.some(({ field }) => field === 'is:retweet')) {
    const message = `Retweets carry no place, so is:retweet and ${shown(view, place)} never match together.`;
    view.report(error('never_matches', message, place.span));
  }
  if (excluded.length === 0) return;
  const texts = new Set(required.map(printNode));
  const given = new Set(required.flatMap(({ field }) => implied.get(field) ?? []));
  for (const { child, span } of excluded) {
    if (child.kind !== 'leaf' || !(texts.has(printNode(child)) || given.has(child.field))) continue;
    const message = 'The rule requires and excludes the same, so this part can never match.';
    const fix = cutting('Remove the exclusion', view.text, span);
    view.report(error('never_matches', message, span, [fix]));
  }
};

/** The same across groups, which the clauses of one level do not show. */
export const nestedContradiction: TreeRule = (root, view) => {
  if (!isContradictory(root)) return;
  const message = 'A part of the rule requires and excludes the same, so it can never match.';
  view.report(error('never_matches', message, root.span));
};

function isExcludedLeaf(node: Node): node is Extract<Node, { kind: 'not' }> {
  return node.kind === 'not' && node.child.kind === 'leaf';
}
