import type { Rule } from '@earshot/sdk';

type Budget = NonNullable<Rule['effective_budget']>;

const dayMs = 86_400_000;

export interface Forecast {
  readonly amount: number;
  readonly spent: number;
  /** At the end of the period, if it goes on as in its elapsed part; null when too little of it has passed, or it never ends. */
  readonly expected: number | null;
}

/** Below this part of a period, a single match would look like a disaster. */
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
