import type { AlertSensitivity, Platform } from '@earshot/contract';
import type { Database, Sql } from '../engines/database.ts';
import { resolveNotices } from '../notices/notice-log.sql.ts';
import { type AlertState, initialState } from './alert-state.ts';
import { bucketMs, type CountedWeek, historyMs } from './baseline.ts';
import type { SampledItem } from './window-words.ts';

/** A rule with alerts, on one of its platforms. */
export interface AlertingRule {
  readonly ruleId: string;
  readonly accountId: string;
  readonly name: string;
  readonly sensitivity: AlertSensitivity;
  readonly platform: Platform;
  readonly query: string;
  readonly since: Date;
  readonly countedPosition: number;
  readonly judgedThrough: Date;
  readonly state: AlertState;
  /** Null if the account had requested none when the alerts were switched on. */
  readonly counted: CountedWeek | null;
  /** Nothing was judged yet: the history is not read either. */
  readonly isNew: boolean;
}

type Watched = Pick<AlertingRule, 'ruleId' | 'platform'>;

/** Matches that one transaction counts. */
const countedAtOnceMax = 20_000;
const sampleMax = 200;
/** Larger items, which are whole pages, are not sampled. */
const sampledBytesMax = 65_536;
const keptMs = historyMs + 7 * 24 * 3_600_000;

const bucketOf = (time: string) => `date_bin('15 minutes', ${time}, timestamptz '2000-01-01 00:00:00Z')`;
const hashOf = (version: string) => `md5(${version}.options::text || ' ' || ${version}.translated_value)`;
const currentVersions = 'rule_versions v on v.rule_id = rules.id and v.version = rules.version';

/** When the rule got its current query on the platform, if another one was not in between. */
const queryHeldSince = `(select greatest(
    min(watches.from_at) filter (where ${hashOf('former')} = ${hashOf('v')}),
    max(watches.to_at) filter (where ${hashOf('former')} <> ${hashOf('v')}))
  from watches join rule_versions former on former.rule_id = watches.rule_id and former.slot_id = watches.slot_id
    and former.platform = watches.platform
  where watches.rule_id = rules.id and watches.platform = v.platform)`;

export function createAlertStore(database: Database) {
  return {
    /** Begins with rules that were switched on. */
    async begin(): Promise<void> {
      await database.run(
        `insert into alert_states (rule_id, platform, account_id, query_hash, since, judged_through, counted, state)
         select rules.id, v.platform, rules.account_id, ${hashOf('v')}, ${bucketOf('held.since')} + interval '15 minutes',
           ${bucketOf('now()')}, (
             select counts from platform_counts join slots on slots.value_hash = platform_counts.value_hash
             where slots.id = v.slot_id and platform_counts.account_id = rules.account_id and platform_counts.platform = v.platform), $1
         from rules join ${currentVersions} cross join lateral (select ${queryHeldSince} as since) as held
         where rules.alerts is not null and rules.state in ('active', 'failed') and held.since is not null
           and not exists (select from alert_states s where s.rule_id = rules.id and s.platform = v.platform)
         on conflict do nothing`,
        [JSON.stringify(initialState)],
      );
    },
    /**
     * Forgets rules whose alerts were switched off, that were deleted, or that have another query. A paused rule keeps its history.
     * Returns the number of changes.
     */
    async end(): Promise<number> {
      const ended = await database.many<Watched & { readonly isPaused: boolean }>(
        `select s.rule_id as "ruleId", s.platform, not (${isForgotten}) as "isPaused" from alert_states s
         join rules on rules.id = s.rule_id left join ${currentVersions} and v.platform = s.platform
         where ${isForgotten} or rules.state = 'paused' and s.state->>'kind' <> 'ok' order by s.rule_id`,
      );
      for (const one of ended) await database.transaction((sql) => endOne(sql, one));
      return ended.length;
    },
    rules: () =>
      database.many<AlertingRule>(
        `select rules.id as "ruleId", rules.account_id as "accountId", rules.name, rules.alerts as sensitivity, s.platform,
           v.translated_value as query, s.since, s.counted_position as "countedPosition", s.judged_through as "judgedThrough", s.state, s.counted, s.is_new as "isNew"
         from alert_states s join rules on rules.id = s.rule_id join ${currentVersions} and v.platform = s.platform
         where rules.alerts is not null and rules.state in ('active', 'failed') order by s.rule_id, s.platform`,
      ),
    /** Counts matches that were stored since the last call, at the items' own times. Returns true if some are left. */
    countNew: (rule: AlertingRule) => database.transaction((sql) => countSome(sql, rule)),
    async cover(rule: AlertingRule, buckets: ReadonlyMap<number, number>): Promise<void> {
      const { ruleId, platform, accountId } = rule;
      await database.run(
        `insert into rule_counts as kept (rule_id, platform, began, account_id, covered_seconds)
         select $1, $2, to_timestamp(began), $3, seconds from unnest($4::float8[], $5::real[]) as given (began, seconds)
         on conflict (rule_id, platform, began) do update set covered_seconds = excluded.covered_seconds
           where kept.covered_seconds <> excluded.covered_seconds`,
        [
          ruleId,
          platform,
          accountId,
          [...buckets.keys()].map((beganMs) => beganMs / 1_000),
          [...buckets.values()],
        ],
      );
    },
    counts: ({ ruleId, platform }: Watched, from: Date, to: Date) =>
      database.many<{ began: Date; matches: number; seconds: number }>(
        `select began, matches, covered_seconds as seconds from rule_counts
         where rule_id = $1 and platform = $2 and began >= $3 and began < $4`,
        [ruleId, platform, from, to],
      ),
    /**
     * Stores what was judged, and reports it in the same transaction. Does nothing if another node was faster, or the alerts were switched
     * off. Returns whether it was stored.
     */
    conclude: (
      { ruleId, platform, judgedThrough }: AlertingRule,
      next: { readonly state: AlertState; readonly judgedThrough: Date },
      report: (sql: Sql) => Promise<void>,
    ) =>
      database.transaction(async (sql) => {
        const moved = await sql.run(
          `update alert_states set state = $4, judged_through = $5, is_new = false
           where rule_id = $1 and platform = $2 and judged_through = $3`,
          [ruleId, platform, judgedThrough, JSON.stringify(next.state), next.judgedThrough],
        );
        if (moved === 0) return false;
        await sql.run('delete from rule_counts where rule_id = $1 and platform = $2 and began < $3', [
          ruleId,
          platform,
          new Date(next.judgedThrough.getTime() - keptMs),
        ]);
        await report(sql);
        return true;
      }),
    /** The newest stored items of a period. */
    async sample({ ruleId, platform }: Watched, from: Date, to: Date): Promise<SampledItem[]> {
      const rows = await database.many<{ position: number; payload: string }>(
        `select position, payload from (
           select position, event_key, event_day from matches
           where rule_id = $1 and platform = $2 and item_at >= $3 and item_at < $4 order by position desc limit $5
         ) as newest cross join lateral (
           select payload from posts where posts.event_key = newest.event_key and posts.platform = $2
             and posts.event_day = newest.event_day and octet_length(payload) <= $6 limit 1
         ) as stored order by position desc`,
        [ruleId, platform, from, to, sampleMax, sampledBytesMax],
      );
      return rows.map(({ position, payload }) => ({ position, payload: JSON.parse(payload) }));
    },
  };
}

export type AlertStore = ReturnType<typeof createAlertStore>;

const isForgotten = `(rules.alerts is null or rules.state = 'deleted' or v.rule_id is null or ${hashOf('v')} <> s.query_hash)`;

async function endOne(
  sql: Sql,
  { ruleId, platform, isPaused }: Watched & { readonly isPaused: boolean },
): Promise<void> {
  if (isPaused)
    await sql.run('update alert_states set state = $3 where rule_id = $1 and platform = $2', [
      ruleId,
      platform,
      JSON.stringify(initialState),
    ]);
  else {
    await sql.run('delete from alert_states where rule_id = $1 and platform = $2', [ruleId, platform]);
    await sql.run('delete from rule_counts where rule_id = $1 and platform = $2', [ruleId, platform]);
  }
  await resolveNotices(sql, {
    types: ['alert.spike', 'alert.drop'],
    subject: { kind: 'rule', id: ruleId },
    key: platform,
  });
}

/** The counts and the position are committed together, so a crash counts nothing twice. Positions become visible in order. */
async function countSome(sql: Sql, { ruleId, platform, accountId, since }: AlertingRule): Promise<boolean> {
  const locked = await sql.one<{ position: number }>(
    'select counted_position as position from alert_states where rule_id = $1 and platform = $2 for update',
    [ruleId, platform],
  );
  if (!locked) return false;
  const counted = await sql.one<{ matches: number; last: number | null }>(
    `with stored as materialized (
       select position, item_at from matches where rule_id = $1 and platform = $2 and position > $4 order by position limit $5
     ), added as (
       insert into rule_counts as kept (rule_id, platform, began, account_id, matches)
       select $1, $2, ${bucketOf('item_at')}, $3, count(*) from stored
       where item_at >= greatest($6, now() - $7 * interval '1 ms') group by ${bucketOf('item_at')}
       on conflict (rule_id, platform, began) do update set matches = kept.matches + excluded.matches
     )
     select count(*) as matches, max(position) as last from stored`,
    [ruleId, platform, accountId, locked.position, countedAtOnceMax, since, keptMs],
  );
  if (counted === null || counted.last === null) return false;
  await sql.run('update alert_states set counted_position = $3 where rule_id = $1 and platform = $2', [
    ruleId,
    platform,
    counted.last,
  ]);
  return counted.matches === countedAtOnceMax;
}

/** The start of the 15 minutes of a time. */
export const bucketBegin = (timeMs: number) => Math.floor(timeMs / bucketMs) * bucketMs;
