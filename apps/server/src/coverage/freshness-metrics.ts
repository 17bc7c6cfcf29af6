import type { Database, Sql } from '../engines/database.ts';
import type { Metrics } from '../observability/metrics.ts';
import { receivedUntil } from '../slots/receiving.sql.ts';
import { budgetExhausted } from './repair-store.sql.ts';

export interface FreshnessOptions {
  readonly database: Database;
  readonly metrics: Pick<Metrics, 'sourceLastReceived' | 'matchedThrough' | 'gapsWaitingForBudget'>;
}

export interface Receipt {
  readonly source: string;
  /** When the source last received something, in seconds since the epoch. */
  readonly received: number;
  readonly ageSeconds: number;
}

/**
 * Reads all sources from the ledger, because a crashed node cannot report its own. A source without a registered rule is
 * left out. Before its first connection, a source counts as received up to the registration of its first rule.
 */
export async function readReceipts(sql: Sql): Promise<Receipt[]> {
  return await sql.many<Receipt>(
    `select source, received, extract(epoch from now())::float8 - received as "ageSeconds" from (
       select sources.id as source, extract(epoch from greatest(first.registered, ${receivedUntil}))::float8 as received
       from sources, lateral (
         select coalesce(registered_at, created_at) as registered from slots
         where source_id = sources.id and state = 'registered' order by 1 limit 1) as first
     ) as receipts`,
  );
}

export async function showFreshness({ database, metrics }: FreshnessOptions): Promise<void> {
  const receipts = await readReceipts(database);
  const progress = await database.one<{ through: number }>(
    'select extract(epoch from matched_through)::float8 as through from match_progress',
  );
  const waiting = await database.one<{ gaps: number }>(
    `select count(*) as gaps from coverage where repair = 'under_way' and gap_from is not null and exists (
       select 1 from gap_repairs
       where coverage_id = coverage.id and state = 'waiting' and because = '${budgetExhausted}')`,
  );
  metrics.gapsWaitingForBudget.set(waiting?.gaps ?? 0);
  metrics.sourceLastReceived.reset();
  for (const { source, received } of receipts) metrics.sourceLastReceived.set({ source }, received);
  if (progress) metrics.matchedThrough.set(progress.through);
}
