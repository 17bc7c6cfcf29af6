import { certain, error, replacement } from '../../diagnostics.ts';
import { findOperator } from '../tables.ts';
import type { LeafRule } from './rule.ts';

/** `sample:` and `embedding:` may not be negated; `is:nullcast` must be. */
export const negationAllowed: LeafRule = (leaf, view, negation) => {
  const rule = findOperator(leaf.field)?.negation;
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
