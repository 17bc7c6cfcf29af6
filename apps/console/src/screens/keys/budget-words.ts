import type { Answers } from '@earshot/sdk';
import { formatCount, formatUsd } from '../../parts/format.ts';

type Terms = NonNullable<Answers['ListKeys']['keys'][number]['budget']>;

const periods: Readonly<Record<Terms['period'], string>> = {
  day: 'per day',
  month: 'per month',
  lifetime: 'in total',
};

/** Describes the terms of a budget: `$5.00 per day, then only notify`. */
export function budgetWords({ period, usd, matches, on_reached }: Terms): string {
  const amount = usd === undefined ? `${formatCount(matches ?? 0)} matches` : formatUsd(usd);
  return `${amount} ${periods[period]}, then ${on_reached === 'pause' ? 'pause its rules' : 'only notify'}`;
}
