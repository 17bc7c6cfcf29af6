import type { Rule } from '@earshot/sdk';

type Budget = NonNullable<Rule['effective_budget']>;

const dayMs = 86_400_000;

export interface Forecast {
  readonly amount: number;
  readonly spent: number;
  /** The spending at the end of the period at the rate so far; null if the period has just begun or never ends. */
  readonly expected: number | null;
}

/** There is no forecast before this part of the period has passed, because a single match would dominate it. */
const elapsedPartMin = 0.02;

export function forecast(budget: Budget, now: Date): Forecast {
  const amount = budget.usd ?? budget.matches ?? 0;
  const part = elapsedPart(budget, now);
  const expected = part === null || part < elapsedPartMin ? null : budget.spent / part;
  return { amount, spent: budget.spent, expected };
}

function elapsedPart({ period, resets_at }: Budget, now: Date): number | null {
  if (resets_at === null) return null;
  const end = new Date(resets_at);
  const lengthMs =
    period === 'month' ? end.getTime() - Date.UTC(end.getUTCFullYear(), end.getUTCMonth() - 1, 1) : dayMs;
  return Math.min(1, Math.max(0, 1 - (end.getTime() - now.getTime()) / lengthMs));
}
