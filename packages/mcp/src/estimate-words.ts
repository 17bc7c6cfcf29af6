import type { Estimate } from '@earshot/contract';

const boundWords = { at_least: 'at least ', at_most: 'at most ' } as const;

export function estimateWords({ matches_per_day: perDay, usd_per_day: usd, bound }: Estimate) {
  const words = bound === null ? '' : boundWords[bound];
  return {
    matches_per_day: perDay ? `${words}${dayWords(perDay)}` : 'unknown',
    usd_per_day: usd ? `${words}${usd.min} to ${usd.max}` : 'unknown',
  };
}

function dayWords({ average, busiest, days }: NonNullable<Estimate['matches_per_day']>): string {
  return busiest === null ? String(average) : `${average} (${busiest} on the busiest of ${days} days)`;
}
