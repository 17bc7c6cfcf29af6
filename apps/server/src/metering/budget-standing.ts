import type { Budget, Platform } from '@earshot/contract';
import { platforms } from '../upstream/platforms.ts';
import { type CountedMatches, costOfMatches, type Prices } from './prices.ts';

/** What is known of a platform for a budget: in its period, and in the last minute. */
export interface CountedSpending extends CountedMatches {
  readonly platform: Platform;
  readonly matches: number;
  readonly recent_matches: number;
}

/** Of which `recent_matches` are counted. */
export const recentMs = 60_000;

export interface Period {
  readonly start: Date;
  /** Null: it does not end. */
  readonly end: Date | null;
}

/** The period that contains `now`, in UTC. */
export function periodAt(kind: Budget['period'], now: Date): Period {
  const [year, month, day] = [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()];
  switch (kind) {
    case 'day':
      return { start: new Date(Date.UTC(year, month, day)), end: new Date(Date.UTC(year, month, day + 1)) };
    case 'month':
      return { start: new Date(Date.UTC(year, month)), end: new Date(Date.UTC(year, month + 1)) };
    case 'lifetime':
      return { start: new Date(0), end: null };
  }
}

/** How a budget is doing; amounts in its unit, dollars at the highest reading: a cap must hold whichever is right. */
export interface Standing {
  readonly cap: number;
  readonly spent: number;
  /** What the upstreams may still deliver after a stop, until they heed it, at the rate of the last minute. */
  readonly atRisk: number;
  /** What may be billed beyond the cap although it is stopped early, if the rate does not rise. */
  readonly overshootUsd: number;
  readonly period: Period;
}

/** The rate of a minute is chance: what comes until a stop is heeded differs from it by more than so many deviations once in 30,000 times. */
const deviations = 4;

export function standingOf(
  budget: Budget,
  counted: readonly CountedSpending[],
  prices: Prices,
  now: Date,
): Standing {
  const isUsd = budget.usd !== undefined;
  const cap = budget.usd ?? budget.matches ?? 0;
  let [spent, atRisk, varianceUsd, oneMatchUsd] = [0, 0, 0, 0];
  let [usd, matches] = [0, 0];
  for (const one of counted) {
    const { max } = costOfMatches(prices, one.platform, one);
    const each = one.matches > 0 ? max / one.matches : 0;
    const unit = isUsd ? each : 1;
    const minutes = platforms[one.platform].stopsWithinMs / recentMs;
    usd += max;
    matches += one.matches;
    spent += isUsd ? max : one.matches;
    atRisk += one.recent_matches * minutes * unit;
    // Of what will come, and of the minute that it is judged by.
    varianceUsd += one.recent_matches * minutes * (1 + minutes) * each ** 2;
    oneMatchUsd = Math.max(oneMatchUsd, each);
  }
  if (isUsd) spent = micro(spent);
  const perUnit = isUsd ? 1 : matches > 0 ? usd / matches : 0;
  return {
    cap,
    spent,
    atRisk,
    overshootUsd:
      Math.max(0, spent + atRisk - cap) * perUnit + deviations * Math.sqrt(varianceUsd) + oneMatchUsd,
    period: periodAt(budget.period, now),
  };
}

/** To the millionth of a dollar: what is beyond comes from the computer's way of counting. */
export function micro(amount: number): number {
  return Math.round(amount * 1_000_000) / 1_000_000;
}
