import type { Database } from '../engines/database.ts';
import { valueHash } from '../slots/slot.ts';
import type { RuleValue } from '../slots/slot-holding.sql.ts';
import type { HourlySeries } from './estimate.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** Counting stops after this time. The estimate then has another basis. */
const statementMsMax = 1_000;

/**
 * The hourly matches of a rule of the account that has had this query for at least a day; null if there is none. Only the account's own
 * rules are queried: the result must not show that another account has the same query.
 */
export async function readHistory(
  database: Database,
  { accountId, value, since }: { accountId: string; value: RuleValue; since: Date },
  nowMs: number,
): Promise<HourlySeries | null> {
  const { platform, translatedValue, options } = value;
  return await database.forAccount(accountId).snapshot(async (sql) => {
    await sql.run(`set local statement_timeout = ${statementMsMax}`);
    const held = await sql.one<{ rule_id: string; from_at: Date }>(
      'select rule_id, from_at from own_rule_with($1, $2)',
      [platform, valueHash(platform, translatedValue, options)],
    );
    if (!held || held.from_at.getTime() > nowMs - dayMs) return null;
    const fromMs = Math.ceil(Math.max(held.from_at.getTime(), since.getTime()) / hourMs) * hourMs;
    const hours = Math.floor((nowMs - fromMs) / hourMs);
    const rows = await sql.many<{ matches: number }>(
      `with hours as (
         select n, coalesce((select first_position from match_times
           where began >= began_of($3::timestamptz + n * interval '1 hour') order by began limit 1), ${Number.MAX_SAFE_INTEGER}) as first
         from generate_series(0, $4::integer) as n
       ), between_hours as (select n, first, lead(first) over (order by n) as next from hours)
       select (select count(*) from matches where rule_id = $1 and platform = $2
         and position >= first and position < next and event_day >= $5::date) as matches
       from between_hours where next is not null order by n`,
      [held.rule_id, platform, new Date(fromMs), hours, new Date(fromMs - dayMs)],
    );
    return { fromMs, counts: rows.map(({ matches }) => matches) };
  });
}
