import type { Rule } from '@earshot/sdk';

export type BudgetState = NonNullable<Rule['effective_budget']>;

export interface BudgetBar {
  readonly unit: 'usd' | 'matches';
  readonly limit: number;
  /** Of the bar; a budget that is exceeded fills it. */
  readonly share: number;
  readonly standing: 'calm' | 'near' | 'spent';
}

/** From here on a notice `budget.threshold` tells the same. */
const near = 0.8;

export function barOf({ usd, matches, spent }: BudgetState): BudgetBar {
  const unit = usd === undefined ? 'matches' : 'usd';
  const limit = usd ?? matches ?? 0;
  const used = limit === 0 ? 1 : spent / limit;
  return {
    unit,
    limit,
    share: Math.min(1, used),
    standing: used >= 1 ? 'spent' : used >= near ? 'near' : 'calm',
  };
}
