import type { Budget, Platform } from '@earshot/contract';
import { platforms } from '../upstream/platforms.ts';
import { type CountedMatches, costOfMatches, type Prices } from './prices.ts';

/** The matches on a platform in a period, and in the last minute. */
export interface CountedSpending extends CountedMatches {
  readonly platform: Platform;
  readonly matches: number;
  readonly recent_matches: number;
}

/** `recent_matches` counts this time. */
export const recentMs = 60_000;

export interface Period {
  readonly start: Date;
  /** Null: the period does not end. */
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

/** The shortest time from which a rate is projected, and the same as a part of the period. */
const projectedFromMs = 3_600_000;
const projectedFromPart = 0.02;

/** How long something has spent in a period; null if that is too short for a rate. `since` is null if it has not begun. */
export function spendingMs({ start, end }: Period, since: Date | null, now: Date): number | null {
  if (since === null || end === null) return null;
  const elapsedMs = now.getTime() - Math.max(start.getTime(), since.getTime());
  const lengthMs = end.getTime() - start.getTime();
  return elapsedMs < Math.max(projectedFromMs, lengthMs * projectedFromPart) ? null : elapsedMs;
}

/** The amount that will be spent at the end of the period at the rate so far; null if there is no rate or no end. */
export function forecastAtEnd(
  { spent, period, since }: { readonly spent: number; readonly period: Period; readonly since: Date | null },
  now: Date,
): number | null {
  const elapsedMs = spendingMs(period, since, now);
  if (elapsedMs === null || period.end === null) return null;
  return micro(spent + (spent * (period.end.getTime() - now.getTime())) / elapsedMs);
}

/** Amounts in matches, or in dollars at the highest reading: a cap must hold whichever reading is right. */
export interface SpentAmounts {
  readonly spent: number;
  /** The estimated amount that still arrives until the upstreams apply a stop, at the rate of the last minute. */
  readonly reserved: number;
  /** The average of one match, on the most expensive platform. */
  readonly perMatch: number;
}

export function spentAmounts(
  unit: 'usd' | 'matches',
  counted: readonly CountedSpending[],
  prices: Prices,
): SpentAmounts {
  let [spent, reserved, perMatch] = [0, 0, 0];
  for (const one of counted) {
    const amount = unit === 'usd' ? costOfMatches(prices, one.platform, one).max : one.matches;
    const each = one.matches > 0 ? amount / one.matches : 0;
    spent += amount;
    perMatch = Math.max(perMatch, each);
    reserved += one.recent_matches * (platforms[one.platform].stopsWithinMs / recentMs) * each;
  }
  return { spent: micro(spent), reserved: micro(reserved), perMatch };
}

/** Rounds to a millionth of a dollar, which removes floating-point errors. */
export function micro(amount: number): number {
  return Math.round(amount * 1_000_000) / 1_000_000;
}
