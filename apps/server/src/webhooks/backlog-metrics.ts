import type { Platform } from '@earshot/contract';
import type { Database } from '../engines/database.ts';
import { databaseTime } from '../engines/database-time.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { MatchReader } from '../readers/match-reader.sql.ts';
import { hasMatchesWaiting, isFree, windowOverAt } from './delivery-store.sql.ts';

export interface BacklogOptions {
  readonly database: Database;
  readonly reader: MatchReader;
  readonly metrics: Pick<Metrics, 'webhooks' | 'webhooksTriedThrough' | 'webhooksFailingSince'>;
}

/** With working senders, few webhooks wait at any time. */
const candidatesMax = 20;

interface WaitingRow {
  readonly account_id: string;
  readonly rule_ids: string[] | null;
  readonly platform: Platform | null;
  readonly position: number;
  /** When it was due. Null if a working webhook is not due; then the time of its oldest unsent match counts. */
  readonly due_at: Date | null;
}

/** Reports whether deliveries run and how endpoints respond. Nodes of every role read it from the database. */
export async function showBacklog({ database, reader, metrics }: BacklogOptions): Promise<void> {
  const states = await database.many<{ state: string; count: number; since: number | null }>(
    `select case when state = 'active' and failing_since is not null then 'failing' else state end as state,
       count(*), extract(epoch from min(failing_since))::float8 as since
     from webhooks group by 1`,
  );
  const nowMs = (await databaseTime(database)).getTime();
  const stateOf = (name: string) => states.find(({ state }) => state === name);
  for (const state of ['active', 'failing', 'paused', 'disabled'] as const)
    metrics.webhooks.set({ state }, stateOf(state)?.count ?? 0);
  metrics.webhooksFailingSince.set(stateOf('failing')?.since ?? nowMs / 1000);
  metrics.webhooksTriedThrough.set((await triedThroughMs(database, reader, nowMs)) / 1000);
}

/**
 * For working endpoints: how long the oldest delivery has waited, from when it was due, or from when its match was
 * stored. A planned next attempt is no excuse, because a working endpoint has none.
 */
async function triedThroughMs(database: Database, reader: MatchReader, nowMs: number): Promise<number> {
  const due = await database.many<WaitingRow>(
    `select account_id, rule_ids, platform, position,
       case when next_attempt_at <= now() then greatest(next_attempt_at, ${windowOverAt}) else ${windowOverAt} end as due_at
     from webhooks
     where ${isFree} and not troubled and coalesce(${windowOverAt} <= now(), true) and 'matches' = any(events)
       and ${hasMatchesWaiting}
     order by next_attempt_at <= now(), next_attempt_at limit $1`,
    [candidatesMax],
  );
  let through = nowMs;
  for (const { account_id: accountId, rule_ids: ruleIds, platform, position: from, due_at } of due) {
    const filter = { accountId, ruleIds, platform, since: null, until: null };
    const { matches } = await reader.read({ ...filter, order: 'oldest', from, limit: 1 });
    const storedMs = matches[0]?.createdAt.getTime();
    // Only matches of deleted rules are left, which the sender skips.
    if (storedMs !== undefined) through = Math.min(through, Math.max(storedMs, due_at?.getTime() ?? 0));
  }
  return through;
}
