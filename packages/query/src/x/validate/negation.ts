import { replacement } from '../../diagnostics.ts';
import { findOperator } from '../tables.ts';
import type { LeafRule } from './rule.ts';

/** `sample:` and `embedding:` may not be negated; `is:nullcast` must be. */
export const negationAllowed: LeafRule = (leaf, view, negation) => {
  const rule = findOperator(leaf.field)?.negation;
  if (rule === 'never' && negation !== null) {
    const direct = negation.child === leaf;
    view.report({
      severity: 'error',
      code: 'not_negatable',
      message: `${leaf.field}: cannot be negated. Remove the dash.`,
      span: direct ? negation.span : leaf.span,
      fixes: direct ? [replacement('Remove the dash', [negation.span[0], leaf.span[0]], '')] : [],
    });
  }
  if (rule === 'always' && negation === null) {
    view.report({
      severity: 'error',
      code: 'must_be_negated',
      message: `${leaf.field} works only negated: it drops posts that are shown as ads only.`,
      span: leaf.span,
      fixes: [replacement('Negate it', [leaf.span[0], leaf.span[0]], '-')],
    });
  }
};
