import type { Estimate } from '@earshot/contract';
import { type HourlySeries, seriesOf, volumeOf } from './estimate.ts';
import type { Looked } from './look-at-items.ts';

/** What an estimate rests on: the numbers, and what is to be said of them. */
export interface Basis {
  readonly basis: Estimate['basis'];
  readonly bound: Estimate['bound'];
  readonly note: string;
  /** Null: unknown. */
  readonly series: HourlySeries | null;
  readonly feeUsd: number;
  /** As the platform answered just now, if it was asked. */
  readonly counted?: HourlySeries;
}

export function fromHistory(series: HourlySeries): Basis {
  return {
    basis: 'history',
    bound: null,
    note: `What a rule of yours with this value brought in ${inDays(series)}.`,
    series,
    feeUsd: 0,
  };
}

/** What is stored was found by other rules: whatever only the draft would have found is not there. */
export function fromStoredItems({ matchedAt, earliest, scale }: Looked, nowMs: number): Basis {
  if (earliest === null)
    return unknown('Nothing is stored of these days: there is no item to try the value on.');
  if (matchedAt.length === 0)
    return unknown('No stored item matches, which says nothing about items that no rule of yours has found.');
  const series = { ...seriesOf(matchedAt, startOfHour(earliest), nowMs), scale };
  return {
    basis: 'bound',
    bound: 'at_least',
    note: `At least: only items that your other rules found in ${inDays(series)} were looked at.`,
    series,
    feeUsd: 0,
  };
}

function unknown(note: string): Basis {
  return { basis: 'unknown', bound: null, note, series: null, feeUsd: 0 };
}

export function toEstimate(
  { basis, bound, note, series, feeUsd }: Basis,
  price: { readonly min: number; readonly max: number },
): Estimate {
  const common = { basis, bound, basis_note: note, fee_usd: feeUsd };
  if (series === null) return { matches_per_day: null, busiest_hour: null, usd_per_day: null, ...common };
  const { p50, p90, busiestHour } = volumeOf(series);
  return {
    matches_per_day: { p50, p90 },
    busiest_hour: busiestHour && {
      starts_at: new Date(busiestHour.startsAtMs).toISOString(),
      matches: busiestHour.matches,
    },
    usd_per_day: { min: dollars(p50 * price.min), max: dollars(p50 * price.max) },
    ...common,
  };
}

function startOfHour(time: Date): number {
  return Math.floor(time.getTime() / 3_600_000) * 3_600_000;
}

function inDays({ counts }: HourlySeries): string {
  const days = Math.floor(counts.length / 24);
  if (days < 1) return `${counts.length} hour${counts.length === 1 ? '' : 's'}`;
  return days === 1 ? 'one day' : `${days} days`;
}

/** To a hundredth of a cent. */
function dollars(amount: number): number {
  return Math.round(amount * 10_000) / 10_000;
}
