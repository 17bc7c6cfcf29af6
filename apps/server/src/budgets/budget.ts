import type { Budget } from '@earshot/contract';
import type { Prices } from '../billing/prices.ts';
import {
  type CountedSpending,
  micro,
  type Period,
  periodAt,
  type SpentAmounts,
  spendingMs,
  spentAmounts,
} from '../billing/spending.ts';

/** The state of a budget; amounts in its unit. */
export interface Standing extends SpentAmounts {
  readonly cap: number;
  readonly period: Period;
  /** Since when it is spent in this period; null if it is not. */
  readonly since: Date | null;
}

export function standingOf(
  budget: Budget,
  counted: readonly CountedSpending[],
  { prices, now, since }: { readonly prices: Prices; readonly now: Date; readonly since: Date | null },
): Standing {
  return {
    cap: budget.usd ?? budget.matches ?? 0,
    period: periodAt(budget.period, now),
    since,
    ...spentAmounts(budget.usd === undefined ? 'matches' : 'usd', counted, prices),
  };
}

/** Percentages of a budget that raise a notice. `isReached` stands for 100%. */
const thresholds = [50, 80] as const;

export interface Decision {
  /** The budget is spent, or will be by what still arrives until the upstreams apply a stop. */
  readonly isReached: boolean;
  /** The thresholds that are passed. */
  readonly passed: readonly number[];
  /** When the budget will be spent at this period's rate; null if that is after the period. */
  readonly forecastAt: Date | null;
}

/**
 * A rule that its budget paused early resumes once in the period, after this time. By then its last minute is over and the platforms have
 * stopped, so that nothing is reserved.
 */
export const resumeEarlyAfterMs = 120_000;

/** Whether what is left pays for another match. */
export function isWorthResuming({ cap, spent, perMatch }: Standing): boolean {
  return micro(spent + perMatch) <= cap;
}

/** When a rule resumes after an early pause. A new period may begin before. */
export function earlyResumeAt({ period }: Standing, now: Date): Date {
  const at = now.getTime() + resumeEarlyAfterMs;
  return new Date(Math.min(at, period.end?.getTime() ?? at));
}

/** A forecast needs at least this part of the period and of the budget. */
const forecastFrom = 0.1;

/** Decides what a budget's state requires. Pure. */
export function decide(standing: Standing, now: Date): Decision {
  const { cap, spent, reserved } = standing;
  return {
    isReached: spent + reserved >= cap,
    passed: thresholds.filter((percent) => spent * 100 >= cap * percent),
    forecastAt: forecastOf(standing, now),
  };
}

function forecastOf({ cap, spent, period, since }: Standing, now: Date): Date | null {
  const { start, end } = period;
  const elapsedMs = spendingMs(period, since, now);
  if (end === null || elapsedMs === null || spent >= cap) return null;
  const lengthMs = end.getTime() - start.getTime();
  if (elapsedMs < lengthMs * forecastFrom || spent < cap * forecastFrom) return null;
  const spentAt = new Date(now.getTime() + Math.ceil((elapsedMs * (cap - spent)) / spent));
  return spentAt < end ? spentAt : null;
}

const dayMs = 86_400_000;

/** Whether average days exceed the budget of a period; for a budget without an end, whether a single average day does. */
export function isAbove(
  budget: Budget,
  perDay: { readonly matches: number; readonly usd: number },
  now: Date,
): boolean {
  const { start, end } = periodAt(budget.period, now);
  const days = end === null ? 1 : (end.getTime() - start.getTime()) / dayMs;
  return budget.usd === undefined
    ? perDay.matches * days > (budget.matches ?? 0)
    : perDay.usd * days > budget.usd;
}
