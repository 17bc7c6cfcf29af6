import type { Node } from '../../ast.ts';
import { warning } from '../../diagnostics.ts';
import { cutting } from '../cut.ts';
import { printNode } from '../print.ts';
import { conjuncts, type NodeRule } from './rule.ts';

/** The same clause required and excluded. */
export const contradiction: NodeRule<'and'> = (node, view) => {
  if (node.children.every(({ kind }) => kind === 'leaf' || kind === 'or')) return;
  const clauses = conjuncts(node);
  const excluded = clauses.filter(isExcludedLeaf);
  if (excluded.length === 0) return;
  const fields = new Set(excluded.map(({ child }) => (child.kind === 'leaf' ? child.field : '')));
  const required = clauses.filter((clause) => clause.kind === 'leaf' && fields.has(clause.field));
  if (required.length === 0) return;
  const texts = new Set(required.map(printNode));
  for (const { child, span } of excluded) {
    if (!texts.has(printNode(child))) continue;
    const message = 'The rule requires and excludes the same clause, so this part can never match.';
    const fix = cutting('Remove the exclusion', view.text, span);
    view.report(warning('never_matches', message, span, [fix]));
  }
};

function isExcludedLeaf(node: Node): node is Extract<Node, { kind: 'not' }> {
  return node.kind === 'not' && node.child.kind === 'leaf';
}
