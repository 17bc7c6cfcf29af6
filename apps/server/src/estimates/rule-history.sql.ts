import type { Platform } from '@earshot/contract';
import type { Database, Sql } from '../engines/database.ts';
import { valueHash } from '../slots/slot.ts';
import type { RuleValue } from '../slots/slot-holding.sql.ts';
import { type HourlySeries, noneSeen, type SeenMatches } from './estimate.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** Counting stops after this time. The estimate then has another basis. */
const statementMsMax = 1_000;

/** What the account's own rules with a query matched. */
export interface RuleHistory {
  /** Null if no rule has had the query for a day. */
  readonly series: HourlySeries | null;
  /** Of a rule that has had the query for less than a day. */
  readonly seen: SeenMatches;
}

/**
 * The matches of the account's rule that has had this query for longest. Only the account's own rules are queried: the result must
 * not show that another account has the same query.
 */
export async function readHistory(
  database: Database,
  { accountId, value, since }: { accountId: string; value: RuleValue; since: Date },
  nowMs: number,
): Promise<RuleHistory> {
  const { platform, translatedValue, options } = value;
  return await database.forAccount(accountId).snapshot(async (sql) => {
    await sql.run(`set local statement_timeout = ${statementMsMax}`);
    const held = await sql.one<{ rule_id: string; from_at: Date }>(
      'select rule_id, from_at from own_rule_with($1, $2)',
      [platform, valueHash(platform, translatedValue, options)],
    );
    if (!held) return { series: null, seen: noneSeen };
    const fromMs = Math.max(held.from_at.getTime(), since.getTime());
    if (held.from_at.getTime() > nowMs - dayMs)
      return { series: null, seen: await readSeen(sql, held, platform) };
    const hours = Math.floor((nowMs - fromMs) / hourMs);
    const firstMs = nowMs - hours * hourMs;
    const rows = await sql.many<{ matches: number }>(
      `with hours as (
         select n, coalesce((select first_position from match_times
           where began >= began_of($3::timestamptz + n * interval '1 hour') order by began limit 1), ${Number.MAX_SAFE_INTEGER}) as first
         from generate_series(0, $4::integer) as n
       ), between_hours as (select n, first, lead(first) over (order by n) as next from hours)
       select (select count(*) from matches where rule_id = $1 and platform = $2
         and position >= first and position < next and event_day >= $5::date) as matches
       from between_hours where next is not null order by n`,
      [held.rule_id, platform, new Date(firstMs), hours, new Date(firstMs - dayMs)],
    );
    return { series: { fromMs: firstMs, counts: rows.map(({ matches }) => matches) }, seen: noneSeen };
  });
}

async function readSeen(
  sql: Sql,
  { rule_id: ruleId, from_at: from }: { rule_id: string; from_at: Date },
  platform: Platform,
): Promise<SeenMatches> {
  const row = await sql.one<SeenMatches>(
    `select count(*) as "lastDay", count(*) filter (where created_at >= now() - interval '1 hour') as "lastHour",
       coalesce(extract(epoch from now() - min(created_at)) * 1000, 0)::float8 as "firstAgoMs"
     from matches where rule_id = $1 and platform = $2 and created_at >= $3 and event_day >= $3::date - 1
       and position >= (select first_position from match_times where began >= began_of($3) order by began limit 1)`,
    [ruleId, platform, from],
  );
  return row ?? noneSeen;
}
