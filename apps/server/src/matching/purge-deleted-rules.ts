import type { Database, Sql } from '../engines/database.ts';
import type { Telemetry } from '../observability/telemetry.ts';

/** Matches per statement. */
const batchMax = 5_000;

/** Matches of deleted rules are hidden at once and removed in batches. Returns true while there may be more. */
export async function purgeDeletedRules({
  database,
  telemetry,
}: {
  readonly database: Database;
  readonly telemetry: Pick<Telemetry, 'matchesPurged'>;
}): Promise<boolean> {
  const purged = await purgeSome(database);
  telemetry.matchesPurged(purged);
  return purged > 0;
}

interface DeletedDayRow {
  account_id: string;
  rule_id: string;
  platform: string;
  event_day: string;
  last_position: number;
}

/**
 * Removes some matches of one deleted rule and day, found by its day heads, and returns their number. If none are
 * left, removes tombstones that are no longer needed.
 */
export async function purgeSome(sql: Sql): Promise<number> {
  for (;;) {
    const deleted = await sql.one<DeletedDayRow>(
      `select day_heads.account_id, day_heads.rule_id, day_heads.platform, event_day::text, last_position
       from rules join day_heads on day_heads.account_id = rules.account_id and day_heads.rule_id = rules.id
       where rules.state = 'deleted' limit 1`,
    );
    if (deleted === null) return await removeTombstones(sql);
    const { rule_id, platform, event_day } = deleted;
    const { purged = 0 } =
      (await sql.one<{ purged: number }>(
        `with gone as (
           delete from matches where event_day = $2 and ctid = any(array(
             select ctid from matches where event_day = $2 and rule_id = $1 and platform = $3 limit $4
           )) returning position
         ), members as (
           delete from story_members using gone where story_members.position = gone.position
         )
         select count(*) as purged from gone`,
        [rule_id, event_day, platform, batchMax],
      )) ?? {};
    if (purged < batchMax) await forgetDay(sql, deleted);
    if (purged > 0) return purged;
  }
}

/** Keeps the row if a batch that was matched before the deletion has added to it. */
async function forgetDay(sql: Sql, day: DeletedDayRow): Promise<void> {
  await sql.run(
    `delete from day_heads where account_id = $1 and rule_id = $2 and platform = $3 and event_day = $4
       and last_position = $5`,
    [day.account_id, day.rule_id, day.platform, day.event_day, day.last_position],
  );
}

/**
 * A tombstone outlives every batch that was matched before the deletion. Usage stays, because the cost was incurred.
 */
async function removeTombstones(sql: Sql): Promise<0> {
  await sql.run(
    `with gone as (
       delete from rules where state = 'deleted' and deleted_at < now() - interval '1 hour' returning id, account_id
     )
     delete from heads using gone where heads.account_id = gone.account_id and heads.rule_id = gone.id`,
  );
  return 0;
}
