import type { Rule } from '@earshot/sdk';

export type BudgetState = NonNullable<Rule['effective_budget']>;

export interface BudgetBar {
  readonly unit: 'usd' | 'matches';
  readonly limit: number;
  /** From 0 to 1, also for an exceeded budget. */
  readonly share: number;
  readonly level: 'calm' | 'near' | 'spent';
}

/** The share at which the server raises the notice `budget.threshold`. */
const near = 0.8;

export function barOf({ usd, matches, spent }: BudgetState): BudgetBar {
  const unit = usd === undefined ? 'matches' : 'usd';
  const limit = usd ?? matches ?? 0;
  const used = limit === 0 ? 1 : spent / limit;
  return {
    unit,
    limit,
    share: Math.min(1, used),
    level: used >= 1 ? 'spent' : used >= near ? 'near' : 'calm',
  };
}
