import type { Node, NotNode } from '../../ast.ts';
import { certain, error, replacement, warning } from '../../diagnostics.ts';
import { type LeafRule, type NodeRule, source, type View } from './rule.ts';

/** `sample:` and `embedding:` may not be negated; `is:nullcast` must be. */
export const negationAllowed: LeafRule = (leaf, view, negation) => {
  const rule = view.dialect.findOperator(leaf.field)?.negation;
  if (rule === 'never' && negation !== null) {
    const direct = negation.child === leaf;
    const message = `${leaf.field}: cannot be negated. Remove the dash.`;
    const fixes = direct ? [replacement('Remove the dash', [negation.span[0], leaf.span[0]], '')] : [];
    view.report(error('not_negatable', message, direct ? negation.span : leaf.span, fixes));
  }
  if (rule === 'always' && negation === null) {
    const message = `${leaf.field} works only negated: it drops posts that are shown as ads only.`;
    const fix = certain(replacement('Negate it', [leaf.span[0], leaf.span[0]], '-'));
    view.report(error('must_be_negated', message, leaf.span, [fix]));
  }
};

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
  const message = view.dialect.texts.negatedGroup;
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
  const message = `${view.dialect.name} cannot exclude a combination of clauses. Negate single clauses, or a quoted phrase.`;
  view.report(error('illegal_negated_group', message, node.span, fixes));
}
