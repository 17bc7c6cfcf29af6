import type { Estimate } from '@earshot/contract';
import {
  type HourlySeries,
  type SeenMatches,
  seriesOf,
  type Volume,
  volumeOf,
  volumeOfTrial,
  withSeen,
} from './estimate.ts';
import type { EvaluatedItems } from './evaluate-items.ts';
import type { TrialResult } from './trials.sql.ts';

/** The basis of an estimate: its numbers, and a note that explains them. */
export interface Basis {
  readonly basis: Estimate['basis'];
  readonly bound: Estimate['bound'];
  readonly note: string;
  /** Null: unknown. */
  readonly volume: Volume | null;
  readonly feeUsd: number;
}

export function fromHistory(series: HourlySeries): Basis {
  return {
    basis: 'history',
    bound: null,
    note: `What one of your rules with this query matched in ${inDays(series)}.`,
    volume: volumeOf(series),
    feeUsd: 0,
  };
}

/** The note says how precise the average is if matches arrive at random, and that other times of the day are unknown. */
export function fromTrial({ matches, coveredMs, isRunning }: TrialResult): Basis {
  const volume = volumeOfTrial(matches, coveredMs);
  const within = `in ${isRunning ? 'the first ' : ''}${inTime(coveredMs)} of a trial`;
  const found = `${matches === 0 ? 'No' : matches} match${matches > 1 ? 'es' : ''} ${within}`;
  return {
    basis: 'trial',
    bound: matches === 0 ? 'at_most' : null,
    note: `${found}; ${confidence(matches, volume)}, if the time of day makes no difference.`,
    volume,
    feeUsd: 0,
  };
}

/** With a probability of 95%. */
function confidence(matches: number, { average }: Volume): string {
  if (matches === 0) return `at most about ${perDay(average)} a day`;
  const percent = Math.round(196 / Math.sqrt(matches));
  return percent < 100 ? `about ±${percent}%` : 'little more than a guess';
}

/** Stored items were found by other rules. Items that only the new query would match are missing. */
export function fromStoredItems({ matchedAt, earliest, scale }: EvaluatedItems, nowMs: number): Basis {
  if (earliest === null)
    return unknown('Nothing is stored for this period, so there is no item to evaluate the query on.');
  if (matchedAt.length === 0)
    return unknown('No stored item matches. Items that none of your rules matched are not known.');
  const series = { ...seriesOf(matchedAt, earliest.getTime(), nowMs), scale };
  return {
    basis: 'bound',
    bound: 'at_least',
    note: `At least: only items that your other rules matched in ${inStored(nowMs - earliest.getTime(), series)} were evaluated.`,
    volume: volumeOf(series),
    feeUsd: 0,
  };
}

function unknown(note: string): Basis {
  return { basis: 'unknown', bound: null, note, volume: null, feeUsd: 0 };
}

const monthDays = 30;

/** The only way from a basis to the figures that are shown. None of them is below what was counted. */
export function toEstimate(
  basis: Basis,
  {
    seen,
    nowMs,
    price,
  }: {
    readonly seen: SeenMatches;
    readonly nowMs: number;
    readonly price: { readonly min: number; readonly max: number };
  },
): Estimate {
  const { basis: kind, bound, note, volume, feeUsd } = notBelow(basis, seen, nowMs);
  const common = { basis: kind, bound, basis_note: note, fee_usd: feeUsd };
  if (volume === null)
    return {
      matches_per_day: null,
      busiest_hour: null,
      usd_per_day: null,
      usd_per_month: null,
      ...common,
    };
  const { average, busiest, days, busiestHour } = volume;
  // A bound of an average says nothing about a busy day.
  const isBound = bound !== null;
  const costOf = (matches: number) => ({
    min: dollars(matches * price.min),
    max: dollars(matches * price.max),
  });
  return {
    matches_per_day: {
      average: perDay(average),
      busiest: busiest === null || isBound ? null : perDay(busiest),
      days,
    },
    busiest_hour:
      busiestHour === null || isBound
        ? null
        : { starts_at: new Date(busiestHour.startsAtMs).toISOString(), matches: busiestHour.matches },
    usd_per_day: costOf(average),
    usd_per_month: costOf(average * monthDays),
    ...common,
  };
}

function notBelow(basis: Basis, seen: SeenMatches, nowMs: number): Basis {
  const { lastDay, firstAgoMs } = seen;
  if (lastDay === 0) return basis;
  const compared =
    basis.bound === null || basis.volume === null ? basis.volume : { ...basis.volume, busiest: null };
  const volume = compared && withSeen(compared, seen, nowMs);
  if (volume) return { ...basis, volume };
  return {
    basis: 'bound',
    bound: 'at_least',
    note: `${basis.note} Already ${lastDay} match${lastDay > 1 ? 'es' : ''} in the last ${inTime(firstAgoMs)}.`,
    volume: { average: lastDay, busiest: null, days: 0, busiestHour: null },
    feeUsd: basis.feeUsd,
  };
}

function inDays({ counts }: HourlySeries): string {
  const days = Math.floor(counts.length / 24);
  if (days < 1) return `${counts.length} hour${counts.length === 1 ? '' : 's'}`;
  return days === 1 ? 'one day' : `${days} days`;
}

/** The series has at least one hour, so less than that is not scaled up beyond it. */
function inStored(ms: number, series: HourlySeries): string {
  return ms < 3_600_000 ? `${inTime(ms)}, counted as an hour,` : inDays(series);
}

function inTime(ms: number): string {
  const [amount, unit] =
    ms < 120_000
      ? [ms / 1_000, 'second']
      : ms < 7_200_000
        ? [ms / 60_000, 'minute']
        : [ms / 3_600_000, 'hour'];
  const rounded = Math.max(1, Math.round(amount));
  return `${rounded} ${unit}${rounded === 1 ? '' : 's'}`;
}

/** Whole matches, or one decimal for small numbers. */
function perDay(matches: number): number {
  return matches < 10 ? Math.round(matches * 10) / 10 : Math.round(matches);
}

/** Rounded to a hundredth of a cent. */
function dollars(amount: number): number {
  return Math.round(amount * 10_000) / 10_000;
}
