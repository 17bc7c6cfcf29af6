import type { Estimate } from '@earshot/contract';

const boundWords = { at_least: 'at least ', at_most: 'at most ' } as const;

export function estimateWords({ matches_per_day: perDay, usd_per_day, usd_per_month, bound }: Estimate) {
  const words = bound === null ? '' : boundWords[bound];
  const range = (usd: Estimate['usd_per_day']) => (usd ? `${words}${usdWords(usd)}` : 'unknown');
  return {
    matches_per_day: perDay ? `${words}${dayWords(perDay)}` : 'unknown',
    usd_per_day: range(usd_per_day),
    usd_per_month: range(usd_per_month),
  };
}

function dayWords({ average, busiest, days }: NonNullable<Estimate['matches_per_day']>): string {
  return busiest === null ? String(average) : `${average} (${busiest} on the busiest of ${days} days)`;
}

/** Dollars as a range, or as one amount. */
export function usdWords({ min, max }: { readonly min: number; readonly max: number }): string {
  return min === max ? String(min) : `${min} to ${max}`;
}
