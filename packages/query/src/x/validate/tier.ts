import { error } from '../../diagnostics.ts';
import { findOperator } from '../tables.ts';
import type { LeafRule } from './rule.ts';

/** X refuses operators that the account's plan does not include. */
export const tierAvailable: LeafRule = (leaf, view) => {
  const needed = findOperator(leaf.field)?.tier;
  if (needed === undefined || needed === view.tier) return;
  const message = `${leaf.field}: needs X's Enterprise plan with the Embedding tier. List the words themselves instead.`;
  view.report(error('unavailable_operator', message, leaf.span));
};
