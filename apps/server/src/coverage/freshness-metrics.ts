import type { Database } from '../engines/database.ts';
import type { Metrics } from '../observability/metrics.ts';

export interface FreshnessOptions {
  readonly database: Database;
  readonly metrics: Pick<Metrics, 'sourceLastReceived' | 'matchedThrough'>;
}

/**
 * Reports all sources from the ledger, because a crashed node cannot report its own. A source without a registered
 * rule is left out. Before its first connection, a source counts as received up to the registration of its first
 * rule.
 */
export async function showFreshness({ database, metrics }: FreshnessOptions): Promise<void> {
  const sources = await database.many<{ source: string; received: number }>(
    `select sources.id as source, extract(epoch from greatest(first.registered, (
         select coalesce(received_until, proven_until) from coverage
         where coverage.source_id = sources.id order by from_at desc, id desc limit 1)))::float8 as received
     from sources, lateral (
       select coalesce(registered_at, created_at) as registered from slots
       where source_id = sources.id and state = 'registered' order by 1 limit 1) as first`,
  );
  const progress = await database.one<{ through: number }>(
    'select extract(epoch from matched_through)::float8 as through from match_progress',
  );
  metrics.sourceLastReceived.reset();
  for (const { source, received } of sources) metrics.sourceLastReceived.set({ source }, received);
  if (progress) metrics.matchedThrough.set(progress.through);
}
