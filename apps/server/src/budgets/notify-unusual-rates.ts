import type { Bells } from '../engines/bells.ts';
import type { Database, Sql } from '../engines/database.ts';
import { raiseNotices, resolveNotices } from '../notices/notice-log.sql.ts';

export interface NotifyUnusualRatesOptions {
  readonly database: Database;
  readonly bells: Pick<Bells, 'ring'>;
}

/** Fewer matches per minute are never unusual. */
const unusualFrom = 20;
const timesUsual = 6;
const usualDays = 7;

/**
 * Notifies accounts of rules that suddenly match far more than usual. It pauses nothing: a budget is a permission to spend, and a
 * burst is often the reason for a rule.
 */
export async function notifyUnusualRates({ database, bells }: NotifyUnusualRatesOptions): Promise<void> {
  const unusual = await readUnusualRates(database);
  for (const { rule_id: id, account_id, name, latest, usual } of unusual)
    await database.transaction((sql) =>
      raiseNotices(sql, [account_id], {
        type: 'rate.unusual',
        subject: { kind: 'rule', id, name },
        data: { matches_per_minute: latest, usual_per_minute: Math.round(usual * 10) / 10 },
      }),
    );
  const resolved = await resolveOthers(
    database,
    unusual.map(({ rule_id }) => rule_id),
  );
  if (unusual.length + resolved > 0) bells.ring('notices');
}

interface UnusualRate {
  readonly rule_id: string;
  readonly account_id: string;
  readonly name: string;
  /** Matches in the last minute. */
  readonly latest: number;
  /** Matches per minute at this time of day in the last week. */
  readonly usual: number;
}

const positionAt = (time: string) =>
  `coalesce((select first_position from match_times where began >= began_of(${time}) order by began limit 1), ${Number.MAX_SAFE_INTEGER})`;

/**
 * Finds rules whose last two minutes were both unusual. A rule that is younger than a day has no usual rate; alerts say more. Items that a
 * repair or a replay stores now are no burst.
 */
async function readUnusualRates(sql: Sql): Promise<UnusualRate[]> {
  return await sql.many<UnusualRate>(
    `with minutes as materialized (
       select ${positionAt(`now() - interval '2 minutes'`)} as first, ${positionAt(`now() - interval '1 minute'`)} as second
     ), counted as (
       select rule_id, count(*) filter (where position >= second) as latest, count(*) filter (where position < second) as before
       from matches, minutes where position >= first and item_at > created_at - interval '5 minutes' group by rule_id
     ), busy as (
       select rule_id, latest, least(latest, before) as lasting from counted where least(latest, before) > $1
     ), days as materialized (
       select n, ${positionAt(`now() - n * interval '1 day' - interval '30 minutes'`)} as first,
         ${positionAt(`now() - n * interval '1 day' + interval '30 minutes'`)} as next
       from generate_series(1, ${usualDays}) as n
     ), rates as (
       select busy.*, account_id, name, (
           select sum((select count(*) from matches where matches.rule_id = busy.rule_id and position >= first and position < next))
             / (60.0 * count(*)) from days where now() - n * interval '1 day' - interval '30 minutes' >= rules.created_at
         )::float8 as usual
       from busy join rules on rules.id = busy.rule_id where rules.state in ('active', 'failed') and rules.alerts is null
     )
     select rule_id, account_id, name, latest, usual from rates where lasting > ${timesUsual} * usual order by rule_id`,
    [unusualFrom],
  );
}

/** Resolves the notices of all other rules. Returns the number of rules. */
async function resolveOthers(database: Database, ruleIds: readonly string[]): Promise<number> {
  const rows = await database.many<{ subject_id: string }>(
    `select distinct subject_id from notices
     where type = 'rate.unusual' and resolved_at is null and subject_id <> all($1) order by subject_id`,
    [ruleIds],
  );
  for (const { subject_id: id } of rows)
    await database.transaction((sql) =>
      resolveNotices(sql, { types: ['rate.unusual'], subject: { kind: 'rule', id } }),
    );
  return rows.length;
}
