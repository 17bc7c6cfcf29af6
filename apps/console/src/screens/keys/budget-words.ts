import type { Answers } from '@earshot/sdk';
import { formatCount, formatUsd } from '../../parts/format.ts';

type Terms = NonNullable<Answers['ListKeys']['keys'][number]['budget']>;

const periods: Readonly<Record<Terms['period'], string>> = {
  day: 'a day',
  month: 'a month',
  lifetime: 'in all',
};

/** A budget as it was set: `$5.00 a day, then only a notice`. */
export function budgetWords({ period, usd, matches, on_reached }: Terms): string {
  const amount = usd === undefined ? `${formatCount(matches ?? 0)} matches` : formatUsd(usd);
  return `${amount} ${periods[period]}, then ${on_reached === 'pause' ? 'paused' : 'only a notice'}`;
}
