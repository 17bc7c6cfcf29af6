import type { AndNode, LeafNode, Node, Span } from '../../ast.ts';
import { error, type Fix, suspicious } from '../../diagnostics.ts';
import { isContradictory } from '../canonical.ts';
import { isSpace } from '../characters.ts';
import { cutting } from '../cut.ts';
import { ofPlaces } from '../exclusions.ts';
import { printNode } from '../print.ts';
import { conjuncts, type NodeRule, shown, source, type TreeRule, type View } from './rule.ts';

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
  const given = new Set(required.flatMap(({ field }) => view.dialect.implied.get(field) ?? []));
  for (const { child, span } of excluded) {
    if (child.kind !== 'leaf' || !(texts.has(printNode(child)) || given.has(child.field))) continue;
    const message = 'The rule requires and excludes the same, so this part can never match.';
    const fix = cutting('Remove the exclusion', view.text, span);
    view.report(error('never_matches', message, span, [fix]));
  }
};

/** The same across groups, which the clauses of one level do not show. */
export const nestedContradiction: TreeRule = (root, view) => {
  if (!isContradictory(root, view.dialect)) return;
  const message = 'A part of the rule requires and excludes the same, so it can never match.';
  view.report(error('never_matches', message, root.span));
};

function isExcludedLeaf(node: Node): node is Extract<Node, { kind: 'not' }> {
  return node.kind === 'not' && node.child.kind === 'leaf';
}

/** Two values of an operator of which a post has one: they never match together. */
export const valueConflict: NodeRule<'and'> = (node, view) => {
  const byField = new Map<string, LeafNode[]>();
  for (const clause of leaves(node)) {
    if (view.dialect.single[clause.field] === undefined) continue;
    const same = byField.get(clause.field);
    if (same === undefined) byField.set(clause.field, [clause]);
    else same.push(clause);
  }
  for (const [field, clauses] of byField) if (clauses.length > 1) report(field, clauses, view);
};

function leaves(node: AndNode): readonly LeafNode[] {
  return conjuncts(node).filter((clause) => clause.kind === 'leaf');
}

function report(field: string, clauses: readonly LeafNode[], view: View): void {
  const [first, ...rest] = clauses;
  const values = new Map(
    clauses.map((clause) => [clause.test.type === 'term' ? clause.test.value : '', source(view, clause)]),
  );
  const other = rest[0];
  if (first === undefined || other === undefined || values.size < 2) return;
  const message = `A post has one ${view.dialect.single[field]}, so these never match together. Join them with OR.`;
  const fix: Fix = {
    title: 'Match either',
    certainty: 'certain',
    edits: [
      { span: first.span, text: `(${[...values.values()].map(bare).join(' OR ')})` },
      ...rest.map(({ span }) => ({ span: withSpaceBefore(view.text, span), text: '' })),
    ],
  };
  const found = field === 'lang' ? error : suspicious;
  view.report(found(field === 'lang' ? 'language_conflict' : 'value_conflict', message, other.span, [fix]));
}

/** The clause without its outer parentheses. */
function bare(clause: string): string {
  return clause.replaceAll(/^[\s(]+|[\s)]+$/g, '');
}

/** Cuts on the side of the clause that stays, so that two edits never overlap. */
function withSpaceBefore(text: string, [start, end]: Span): Span {
  let from = start;
  while (from > 0 && isSpace(text.charCodeAt(from - 1))) from -= 1;
  return [from, end];
}
