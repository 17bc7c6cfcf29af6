import type { Node, NotNode } from '../../ast.ts';
import { certain, error, replacement, warning } from '../../diagnostics.ts';
import { type NodeRule, source, type View } from './rule.ts';

/** X's page advises against `-( … )`. An OR of plain clauses is rewritten; anything else has no legal form. */
export const negatedGroup: NodeRule<'not'> = (node, view) => {
  if (node.child.kind === 'leaf') return;
  const clauses = disjuncts(node.child);
  if (clauses.every((clause) => clause.kind === 'leaf')) reportRewrite(node, clauses, view);
  else reportIllegal(node, view);
};

/** The leaves of an OR, nested ones laid flat. */
function disjuncts(node: Node): readonly Node[] {
  return node.kind === 'or' ? node.children.flatMap(disjuncts) : [node];
}

function reportRewrite(node: NotNode, clauses: readonly Node[], view: View): void {
  const text = clauses.map((clause) => `-${source(view, clause)}`).join(' ');
  const message =
    'X advises against a dash before parentheses. The rule is registered with each clause negated.';
  view.report(
    warning('negated_group', message, node.span, [
      certain(replacement('Negate each clause', node.span, text)),
    ]),
  );
}

function reportIllegal(node: NotNode, view: View): void {
  const { child } = node;
  const plain = child.kind === 'and' && child.children.every((part) => part.kind === 'leaf');
  const fixes = plain
    ? [
        replacement(
          'Exclude posts with any of them',
          node.span,
          child.children.map((part) => `-${source(view, part)}`).join(' '),
        ),
      ]
    : [];
  const message = 'X cannot exclude a combination of clauses. Negate single clauses, or a quoted phrase.';
  view.report(error('illegal_negated_group', message, node.span, fixes));
}
