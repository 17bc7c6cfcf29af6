import type { Database } from '../engines/database.ts';
import type { Metrics } from '../observability/metrics.ts';

export interface FreshnessOptions {
  readonly database: Database;
  readonly metrics: Pick<Metrics, 'sourceLastReceived' | 'matchedThrough'>;
}

/**
 * What the ledger says of all sources, whoever listens to them: a node that died cannot tell that it did. A source without a
 * registered rule has nobody to listen for; with its first rule it counts as heard until then.
 */
export async function showFreshness({ database, metrics }: FreshnessOptions): Promise<void> {
  const sources = await database.many<{ source: string; heard: number }>(
    `select sources.id as source, extract(epoch from greatest(first.registered, (
         select coalesce(received_until, proven_until) from coverage
         where coverage.source_id = sources.id order by from_at desc, id desc limit 1)))::float8 as heard
     from sources, lateral (
       select coalesce(registered_at, created_at) as registered from slots
       where source_id = sources.id and state = 'registered' order by 1 limit 1) as first`,
  );
  const progress = await database.one<{ through: number }>(
    'select extract(epoch from matched_through)::float8 as through from match_progress',
  );
  metrics.sourceLastReceived.reset();
  for (const { source, heard } of sources) metrics.sourceLastReceived.set({ source }, heard);
  if (progress) metrics.matchedThrough.set(progress.through);
}
