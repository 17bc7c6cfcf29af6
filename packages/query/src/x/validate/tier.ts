import { findOperator } from '../tables.ts';
import type { LeafRule } from './rule.ts';

/** Operators that the account's plan does not have are refused by X when the rule is created. */
export const tierAvailable: LeafRule = (leaf, place) => {
  const needed = findOperator(leaf.field)?.tier;
  if (needed === undefined || needed === place.tier) return;
  place.report({
    severity: 'error',
    code: 'unavailable_operator',
    message: `${leaf.field}: needs X's Enterprise plan with the Embedding tier. List the words themselves instead.`,
    span: leaf.span,
    fixes: [],
  });
};
