import type { RuleRelevance } from '@earshot/contract';
import type { Database, Sql } from '../engines/database.ts';
import { removeOrphans } from '../relevance/relevance.sql.ts';
import type { JudgeVerdict } from './judge-request.ts';

export interface JudgedRuleRow {
  readonly id: string;
  readonly accountId: string;
  readonly intent: string;
  readonly intentVersion: number;
  readonly relevance: RuleRelevance;
  readonly position: number;
}

export interface JudgedMatch {
  readonly position: number;
  readonly ruleId: string;
  readonly platform: string;
  readonly eventKey: string;
}

/** `key` identifies what was judged; null if it was not. */
export interface StoredVerdict {
  readonly verdict: JudgeVerdict | 'unjudged';
  readonly reason: string;
  readonly key: string | null;
}

export interface LabelledMatch {
  readonly position: number;
  readonly label: 'relevant' | 'not_relevant';
  readonly verdict: StoredVerdict['verdict'] | null;
}

export type JudgeStore = ReturnType<typeof createJudgeStore>;

export function createJudgeStore(database: Database, model: string) {
  const ruleColumns = `rules.id, rules.account_id as "accountId", intent, intent_version as "intentVersion", relevance,
    judged_position as position`;
  const isJudged = `judged_position is not null and state not in ('creating', 'deleted')`;
  return {
    /** Rules with matches that the judge has not seen. */
    waitingRules: () =>
      database.many<JudgedRuleRow>(
        `select ${ruleColumns} from rules where ${isJudged} and exists (
           select from heads where heads.account_id = rules.account_id and heads.rule_id = rules.id
             and heads.last_position > judged_position)
         order by judged_position limit 100`,
      ),
    /** Rules whose labelled matches were judged by another model, or for another intent. */
    rulesToCompare: () =>
      database.many<JudgedRuleRow & { isFirst: boolean }>(
        `select ${ruleColumns}, labels_judged_as is null as "isFirst" from rules
         where ${isJudged} and labels_judged_as is distinct from $1 || ' ' || intent_version
         order by id limit 10`,
        [model],
      ),
    /** The newest labelled matches of the rule. */
    labelled: (ruleId: string, limit: number) =>
      database.many<LabelledMatch>(
        `select position, label, verdict from match_relevance where rule_id = $1 and label is not null
         order by position desc limit $2`,
        [ruleId, limit],
      ),
    async compared({ id, intentVersion }: JudgedRuleRow): Promise<void> {
      await database.run(`update rules set labels_judged_as = $2 where id = $1`, [
        id,
        `${model} ${intentVersion}`,
      ]);
    },
    async known({ id, intentVersion }: JudgedRuleRow, key: string): Promise<StoredVerdict | null> {
      return await database.one<StoredVerdict>(
        `select verdict, reason, judged_key as key from match_relevance
         where rule_id = $1 and judged_key = $2 and judged_by = $3 and intent_version = $4 limit 1`,
        [id, key, model, intentVersion],
      );
    },
    /** A removal deletes the row of its match: so nothing is stored for a match that is gone. */
    async store(rule: JudgedRuleRow, match: JudgedMatch, given: StoredVerdict): Promise<void> {
      await database.run(
        `insert into match_relevance (position, account_id, rule_id, platform, event_day, verdict, reason, judged_by,
           intent_version, judged_at, judged_key)
         select position, account_id, rule_id, platform, event_day, $4, $5, $6, $7, now(), $8 from matches
         where rule_id = $1 and event_key = $2 and position = $3
         on conflict (position) do update set verdict = excluded.verdict, reason = excluded.reason,
           judged_by = excluded.judged_by, intent_version = excluded.intent_version,
           judged_at = excluded.judged_at, judged_key = excluded.judged_key`,
        [
          rule.id,
          match.eventKey,
          match.position,
          given.verdict,
          given.reason,
          model,
          rule.intentVersion,
          given.key,
        ],
      );
      await removeOrphans(database, [match.position]);
    },
    async advance(ruleId: string, position: number): Promise<void> {
      await database.run(
        'update rules set judged_position = greatest(judged_position, $2) where id = $1 and judged_position is not null',
        [ruleId, position],
      );
    },
    /** The end of the rule's matches. */
    async end(ruleId: string, accountId: string): Promise<number> {
      const row = await database.one<{ last: number | null }>(
        'select max(last_position) as last from heads where account_id = $1 and rule_id = $2',
        [accountId, ruleId],
      );
      return row?.last ?? 0;
    },
    /** False if a limit of the day does not allow the amount. */
    reserve: (rule: JudgedRuleRow, usd: number, usdPerDay: number) =>
      database.transaction((sql) => reserve(sql, rule, usd, usdPerDay)),
    async settle(rule: JudgedRuleRow, { day, usd }: Reservation, settledUsd: number): Promise<void> {
      await database.run(
        'update judge_usage set usd = usd - $3::float8 + $4::float8 where rule_id = $1 and day = $2',
        [rule.id, day, usd, settledUsd],
      );
    },
  };
}

/** The day on which the amount was reserved. */
export interface Reservation {
  readonly day: string;
  readonly usd: number;
}

/** One at a time, so that two calls cannot both take the last of a limit. */
async function reserve(
  sql: Sql,
  { id, accountId, relevance }: JudgedRuleRow,
  usd: number,
  usdPerDay: number,
): Promise<Reservation | null> {
  if (usd > 0) await sql.one(`select pg_advisory_xact_lock(hashtext('judge_usage'))`);
  const row = await sql.one<Pick<Reservation, 'day'>>(
    `with today as (select (now() at time zone 'UTC')::date as day), spent as (
       select coalesce(sum(usd), 0) as of_all, coalesce(sum(usd) filter (where rule_id = $1), 0) as of_rule
       from judge_usage where day = (select day from today)
     )
     insert into judge_usage as kept (account_id, rule_id, day, calls, usd)
     select $2, $1, day, 1, $3::float8 from today, spent
     where $3::float8 = 0 or (of_all + $3 <= $4::float8 and ($5::float8 is null or of_rule + $3 <= $5))
     on conflict (rule_id, day) do update set calls = kept.calls + 1, usd = kept.usd + excluded.usd
     returning day::text`,
    [id, accountId, usd, usdPerDay, relevance.usd_per_day],
  );
  return row && { day: row.day, usd };
}
