import type { Platform, SourceState } from '@earshot/contract';
import type { Database, Sql } from '../engines/database.ts';
import { assertLease, fenced, type Lease } from '../engines/leases.ts';
import { raiseNotices, resolveNotices } from '../notices/notice-log.sql.ts';
import { accountsOn } from '../slots/slot-holding.sql.ts';
import { callsMade, recordCall } from '../slots/upstream-calls.ts';
import { type CallLimit, callsMax, withoutReserve } from '../upstream/call-budget.ts';
import { needsPerson } from '../upstream/protocol.ts';
import type { UpstreamRules } from '../upstream/upstream-rules.ts';

export interface ConfiguredSource {
  readonly id: string;
  readonly platform: Platform;
  /** The most that is placed on it; less where the upstream turns out to take less. */
  readonly capacity: number;
  /** Nothing new is placed on it, and its slots move to other sources. */
  readonly draining?: boolean;
  /** How much one account may use of what the others leave. */
  readonly accountShare?: number;
  /** How long after its registration the platform heeds a rule. */
  readonly ruleDelayMs?: number;
  readonly rules?: Pick<UpstreamRules, 'limits' | 'rulesPerCall'>;
}

/** What people see of a source. */
export interface ShownState {
  readonly state: SourceState;
  readonly detail: string | null;
  readonly nextAttemptInMs: number | null;
  /** When the next period of the installation's budget begins, if that is what it waits for. */
  readonly resetsAt?: Date | null;
}

export type SourceStore = ReturnType<typeof createSourceStore>;

const detailLengthMax = 500;

/**
 * The rows of sources: which ones there are, and what the ingest worker of each leaves for people and for its
 * successor. What takes a lease throws LeaseLost without it.
 */
export function createSourceStore(database: Database) {
  return {
    /** Writes down which sources this node is configured with, so that every node can place slots on them. */
    async announce(sources: readonly ConfiguredSource[]): Promise<void> {
      for (const source of sources) await announce(database, source);
    },
    /** Attempts to connect that may still count, in ms ago, oldest first. */
    async connectsMade(sourceId: string, limit: CallLimit): Promise<number[]> {
      const calls = await callsMade(database, sourceId);
      return calls.filter(({ bucket }) => bucket === limit.bucket).map(({ agoMs }) => agoMs);
    },
    /** Before the attempt: one too many on the list is harmless, one too few is not. */
    recordConnect: (lease: Lease, sourceId: string, limit: CallLimit) =>
      recordCall(database, lease, { sourceId, limit }),
    assertHeld: (lease: Lease) => assertLease(database, lease),
    recordState: (lease: Lease, sourceId: string, shown: ShownState) =>
      fenced(database, lease, (sql) => recordState(sql, sourceId, shown)),
    async countEnabled(): Promise<number> {
      const row = await database.one<{ count: number }>('select count(*) from sources where enabled');
      return Math.max(1, row?.count ?? 1);
    },
    /** The usual volume of the source's stream, as a former holder found it. */
    async usualPerMinute(sourceId: string): Promise<number | null> {
      const row = await database.one<{ usual: number | null }>(
        'select usual_per_minute as usual from sources where id = $1',
        [sourceId],
      );
      return row?.usual ?? null;
    },
    recordUsual: (lease: Lease, sourceId: string, perMinute: number) =>
      fenced(database, lease, (sql) =>
        sql.run('update sources set usual_per_minute = $2 where id = $1', [sourceId, perMinute]),
      ),
  };
}

/**
 * Whoever has an active rule on the source is told that only a person can mend it, or that the installation's budget is reached, and
 * that it is live again. How large that budget is, and what was spent of it, is the operator's matter.
 */
async function recordState(sql: Sql, sourceId: string, shown: ShownState): Promise<void> {
  const { state, nextAttemptInMs } = shown;
  const problem = shown.detail?.slice(0, detailLengthMax) ?? null;
  const row = await sql.one<{ platform: Platform }>(
    `update sources set state = $2, state_detail = $3,
       state_since = case when state = $2 then state_since else now() end,
       next_attempt_at = now() + $4 * interval '1 ms', updated_at = now()
     where id = $1 returning platform`,
    [sourceId, state, problem, nextAttemptInMs],
  );
  if (!row) return;
  const { platform } = row;
  const subject = { kind: 'source', id: sourceId, name: sourceId.slice(platform.length + 1) } as const;
  if (state === 'live')
    await resolveNotices(sql, { types: ['source.action_required', 'budget.reached'], subject });
  if (state === 'budget')
    await raiseNotices(sql, await accountsOn(sql, sourceId), {
      type: 'budget.reached',
      subject,
      data: {
        budget: 'installation',
        on_reached: 'pause',
        resets_at: shown.resetsAt?.toISOString() ?? null,
        platform,
      },
    });
  if (!needsPerson.has(state)) return;
  await raiseNotices(sql, await accountsOn(sql, sourceId), {
    type: 'source.action_required',
    subject,
    data: { platform, state, ...(problem !== null && { problem }) },
  });
}

async function announce(database: Database, source: ConfiguredSource): Promise<void> {
  const { id, platform, capacity, draining = false, accountShare = 1, ruleDelayMs = 0, rules } = source;
  const limit = rules?.limits.change;
  await database.run(
    `insert into sources (id, platform, capacity, configured_capacity, enabled, account_share, calls_bucket,
       calls_max, calls_window_ms, rules_per_call, rule_delay_ms)
     values ($1, $2, $3, $3, $4, $5, $6, $7, $8, $9, $10)
     on conflict (id) do update
       set configured_capacity = excluded.configured_capacity,
         capacity = least(excluded.configured_capacity, sources.learnt_capacity),
         enabled = excluded.enabled, updated_at = now(), account_share = excluded.account_share,
         calls_bucket = excluded.calls_bucket, calls_max = excluded.calls_max,
         calls_window_ms = excluded.calls_window_ms, rules_per_call = excluded.rules_per_call,
         rule_delay_ms = excluded.rule_delay_ms`,
    [
      id,
      platform,
      capacity,
      !draining,
      accountShare,
      limit?.bucket ?? null,
      limit ? callsMax(withoutReserve(limit)) : null,
      limit?.windowMs ?? null,
      rules?.rulesPerCall ?? 1,
      ruleDelayMs,
    ],
  );
}
