import type { Estimate } from '@earshot/contract';

const boundWords = { at_least: 'at least ', at_most: 'at most ' } as const;

export function estimateWords({ matches_per_day: perDay, usd_per_day: usd, bound }: Estimate) {
  const words = bound === null ? '' : boundWords[bound];
  return {
    matches_per_day: perDay ? `${words}${perDay.p50}, on a busy day ${perDay.p90}` : 'unknown',
    usd_per_day: usd ? `${words}${usd.min} to ${usd.max}` : 'unknown',
  };
}
