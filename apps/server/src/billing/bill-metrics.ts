import type { Database } from '../engines/database.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { Prices } from './prices.ts';
import { readBilledTotals } from './read-bill.ts';

export interface BillMetricsOptions {
  readonly database: Database;
  readonly metrics: Metrics;
  readonly prices: Prices;
}

/** Read from the tables, so that they are right after a restart and equal on every node. */
export async function showBill({ database, metrics, prices }: BillMetricsOptions): Promise<void> {
  const lines = await readBilledTotals(database, prices);
  for (const { source_id: source = '', kind, at_least, at_most } of lines) {
    metrics.billed.set({ source, kind, reading: 'min' }, at_least);
    metrics.billed.set({ source, kind, reading: 'max' }, at_most);
  }
  for (const [source = '', own] of Map.groupBy(lines, ({ source_id }) => source_id)) {
    const sum = (reading: 'min' | 'max') => own.reduce((total, { usd }) => total + usd[reading], 0);
    for (const reading of ['min', 'max'] as const) metrics.costUsd.set({ source, reading }, sum(reading));
  }
  const checks = await database.many<{ source: string; min: number; max: number }>(
    `select source_id as source, reported - at_least as min, reported - at_most as max
     from usage_checks where reported is not null`,
  );
  for (const { source, min, max } of checks) {
    metrics.usageDifference.set({ source, reading: 'min' }, min);
    metrics.usageDifference.set({ source, reading: 'max' }, max);
  }
}
