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
  /** Rules placed on it at most. Earshot lowers it if the platform accepts fewer. */
  readonly capacity: number;
  /** No new rules are placed on it, and existing ones move to other sources. */
  readonly draining?: boolean;
  /** Largest share of the unused rules that one account may take. */
  readonly accountShare?: number;
  /** Time from the registration of a rule until the platform applies it. */
  readonly ruleDelayMs?: number;
  readonly rules?: Pick<UpstreamRules, 'limits' | 'rulesPerCall'>;
}

/** The state of a source as shown to people. */
export interface ShownState {
  readonly state: SourceState;
  readonly detail: string | null;
  readonly nextAttemptInMs: number | null;
  /** If it waits for the installation's budget: when the next period begins. */
  readonly resetsAt?: Date | null;
}

export type SourceStore = ReturnType<typeof createSourceStore>;

/** SQL: whether a node has run the source lately. A source that is removed from the settings stays in the table. */
export const isRun = `(sources.updated_at > now() - interval '10 minutes' or exists (
  select from leases where name = 'registrar:' || sources.id and expires_at > now() - interval '10 minutes'))`;

const detailLengthMax = 500;

/**
 * The rows of sources: their configuration, and the state that ingest workers write. Methods with a lease throw
 * LeaseLost without it.
 */
export function createSourceStore(database: Database) {
  return {
    /** Records the sources of this node, so that every node can place rules on them. */
    async announce(sources: readonly ConfiguredSource[]): Promise<void> {
      for (const source of sources) await announce(database, source);
    },
    /** Drains sources that this node has no token for. Returns those that exist. */
    async drain(sourceIds: readonly string[]): Promise<string[]> {
      const rows = await database.many<{ id: string }>(
        'update sources set enabled = false, updated_at = now() where id = any($1) returning id',
        [sourceIds],
      );
      return rows.map(({ id }) => id);
    },
    /** Connection attempts that may still count, as ages in ms, oldest first. */
    async connectsMade(sourceId: string, limit: CallLimit): Promise<number[]> {
      const calls = await callsMade(database, sourceId);
      return calls.filter(({ bucket }) => bucket === limit.bucket).map(({ agoMs }) => agoMs);
    },
    /** Recorded before the attempt: one too many is harmless, one too few is not. */
    recordConnect: (lease: Lease, sourceId: string, limit: CallLimit) =>
      recordCall(database, lease, { sourceId, limit }),
    assertHeld: (lease: Lease) => assertLease(database, lease),
    recordState: (lease: Lease, sourceId: string, shown: ShownState) =>
      fenced(database, lease, (sql) => recordState(sql, sourceId, shown)),
    async countEnabled(): Promise<number> {
      const row = await database.one<{ count: number }>(
        `select count(*) from sources where enabled and ${isRun}`,
      );
      return Math.max(1, row?.count ?? 1);
    },
    /** The usual volume of the stream, as an earlier holder measured it. */
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
 * Notifies accounts with an active rule on the source if a person must act or the installation's budget is reached.
 * Resolves these notices when the source is live. The amounts of that budget are not disclosed.
 */
async function recordState(sql: Sql, sourceId: string, shown: ShownState): Promise<void> {
  const { state, nextAttemptInMs } = shown;
  const message = shown.detail?.slice(0, detailLengthMax) ?? null;
  const row = await sql.one<{ platform: Platform }>(
    `update sources set state = $2, state_detail = $3,
       state_since = case when state = $2 then state_since else now() end,
       next_attempt_at = now() + $4 * interval '1 ms', updated_at = now()
     where id = $1 returning platform`,
    [sourceId, state, message, nextAttemptInMs],
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
    data: { platform, state, ...(message !== null && { message }) },
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
