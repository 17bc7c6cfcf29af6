import type { Database, Sql } from '../engines/database.ts';
import type { Telemetry } from '../observability/telemetry.ts';

/*
 * Matches and posts are partitioned by the UTC day of the event. Partitions are made ahead of time, whole days are
 * removed by retention, and the matches of deleted rules are removed in small steps.
 */

/** Late replays reach a week back. Two weeks ahead leave time to notice that no partitions can be made. */
const daysBack = 7;
export const daysAheadMax = 14;
const purgeBatch = 5_000;

/** What the steps of upkeep work with. */
export interface UpkeepOptions {
  readonly database: Database;
  readonly telemetry: Telemetry;
}

export async function keepPartitionsAhead({ database, telemetry }: UpkeepOptions): Promise<void> {
  // Reported before as well, so that the number falls when no partitions can be made.
  telemetry.partitionsAhead(await daysAhead(database));
  await ensurePartitions(database);
  telemetry.partitionsAhead(await daysAhead(database));
}

export async function ensurePartitions(sql: Sql): Promise<void> {
  await sql.run(
    `select ensure_partitions(
       (now() at time zone 'UTC')::date - $1::integer, (now() at time zone 'UTC')::date + $2::integer)`,
    [daysBack, daysAheadMax],
  );
}

/** Days from today for which there are partitions. */
export async function daysAhead(sql: Sql): Promise<number> {
  const row = await sql.one<{ days: number | null }>(
    `select max(to_date(right(inhrelid::regclass::text, 8), 'YYYYMMDD')) - (now() at time zone 'UTC')::date as days
     from pg_inherits where inhparent = 'matches'::regclass`,
  );
  return row?.days ?? -1;
}

/** Matches of deleted rules are hidden at once and removed in batches; true while there may be more. */
export async function purgeDeletedRules({ database, telemetry }: UpkeepOptions): Promise<boolean> {
  const purged = await purgeSome(database);
  telemetry.matchesPurged(purged);
  return purged > 0;
}

interface DoomedRow {
  account_id: string;
  rule_id: string;
  platform: string;
  event_day: string;
  last_position: number;
}

/**
 * Removes some matches of one deleted rule and day, found by what was kept when they were written; returns how many. When
 * there are none left, removes tombstones that are no longer needed.
 */
export async function purgeSome(sql: Sql): Promise<number> {
  for (;;) {
    const doomed = await sql.one<DoomedRow>(
      `select day_heads.account_id, day_heads.rule_id, day_heads.platform, event_day::text, last_position
       from rules join day_heads on day_heads.account_id = rules.account_id and day_heads.rule_id = rules.id
       where rules.state = 'deleted' limit 1`,
    );
    if (doomed === null) return await removeTombstones(sql);
    const { rule_id, platform, event_day } = doomed;
    const purged = await sql.run(
      `delete from matches where event_day = $2 and ctid = any(array(
         select ctid from matches where event_day = $2 and rule_id = $1 and platform = $3 limit $4
       ))`,
      [rule_id, event_day, platform, purgeBatch],
    );
    if (purged < purgeBatch) await forgetDay(sql, doomed);
    if (purged > 0) return purged;
  }
}

/** Unless a batch that was matched before the deletion has added to it meanwhile. */
async function forgetDay(sql: Sql, day: DoomedRow): Promise<void> {
  await sql.run(
    `delete from day_heads where account_id = $1 and rule_id = $2 and platform = $3 and event_day = $4
       and last_position = $5`,
    [day.account_id, day.rule_id, day.platform, day.event_day, day.last_position],
  );
}

/** A tombstone outlives every batch that was matched before the deletion. Usage stays: what the rule cost was spent. */
async function removeTombstones(sql: Sql): Promise<0> {
  await sql.run(
    `with gone as (
       delete from rules where state = 'deleted' and deleted_at < now() - interval '1 hour' returning id, account_id
     )
     delete from heads using gone where heads.account_id = gone.account_id and heads.rule_id = gone.id`,
  );
  return 0;
}

export interface RetentionOptions {
  readonly database: Database;
  readonly retentionDays: number;
  readonly telemetry: Pick<Telemetry, 'dayRemoved'>;
}

/**
 * Removes the days that are older than what is kept, the oldest first: each partition is detached without blocking
 * anybody, then dropped. Two at once would be in each other's way, so this runs under a lease.
 */
export async function removeExpiredDays(options: RetentionOptions): Promise<void> {
  const { database, retentionDays, telemetry } = options;
  const newest = await newestEventDay(database);
  if (newest === null) return;
  const partitions = await database.many<PartitionRow>(
    `${selectPartitions} where day < least($1::date, (now() at time zone 'UTC')::date) - $2::integer
     order by day, name`,
    [newest, retentionDays],
  );
  for (const partition of partitions) {
    await removePartition(database, partition);
    telemetry.dayRemoved({ table: partition.name });
  }
  // An event may be of a day that has yet to come: its match is older than its day.
  await database.run(
    `delete from match_times
     where began < least($1::date, (now() at time zone 'UTC')::date) - $2::integer - $3::integer`,
    [newest, retentionDays, daysAheadMax],
  );
  while ((await removeOldRemovals(database, newest, retentionDays)) > 0);
}

/** Removals are kept as long as matches, and missed in the same way: who was away for longer is told that it missed something. */
async function removeOldRemovals(sql: Sql, newest: string, retentionDays: number): Promise<number> {
  const rows = await sql.many(
    `with gone as (
       delete from removals where position in (
         select position from removals
         where created_at < least($1::date, (now() at time zone 'UTC')::date) - $2::integer limit $3
       ) returning account_id, rule_id, platform, position
     ), noted as (
       insert into removed_matches (account_id, rule_id, platform, last_position)
       select account_id, rule_id, platform, max(position) from gone group by account_id, rule_id, platform
       on conflict (account_id, rule_id, platform) do update
         set last_position = greatest(removed_matches.last_position, excluded.last_position)
     )
     select 1 from gone`,
    [newest, retentionDays, purgeBatch],
  );
  return rows.length;
}

interface PartitionRow {
  name: string;
  parent: string;
  day: string;
  attached: boolean;
  detaching: boolean;
}

/** Found by name, so that one is included that was detached and not dropped because the process died in between. */
const selectPartitions = `select name, parent, to_char(day, 'YYYY-MM-DD') as day, attached, detaching from (
  select relname as name, split_part(relname, '_', 1) as parent, to_date(right(relname, 8), 'YYYYMMDD') as day,
    inhrelid is not null as attached, coalesce(inhdetachpending, false) as detaching
  from pg_class left join pg_inherits on inhrelid = pg_class.oid
  where relkind = 'r' and relnamespace = current_schema::regnamespace and relname ~ '^(matches|posts)_[0-9]{8}$'
) as partitions`;

/**
 * The day of the newest event. Retention counts from it when the clock is ahead of it: a clock that jumps by weeks
 * must not remove everything.
 */
export async function newestEventDay(sql: Sql): Promise<string | null> {
  const partitions = await sql.many<PartitionRow>(
    `${selectPartitions} where attached and parent = 'posts' order by day desc`,
  );
  for (const { name, day } of partitions) {
    const row = await sql.one<{ used: boolean }>(`select exists (select 1 from ${name}) as used`);
    if (row?.used) return day;
  }
  return null;
}

async function removePartition(database: Database, partition: PartitionRow): Promise<void> {
  const { name, parent, attached, detaching, day } = partition;
  if (attached) {
    if (parent === 'matches') await recordRemoved(database, day);
    // `concurrently` blocks nobody and waits for running transactions; when interrupted, only `finalize` completes it.
    await database.run(
      `alter table ${parent} detach partition ${name} ${detaching ? 'finalize' : 'concurrently'}`,
    );
  }
  if (parent === 'matches') {
    await database.transaction(async (sql) => {
      // Once more for what was written meanwhile.
      await recordRemoved(sql, day);
      await sql.run('delete from day_heads where event_day = $1', [day]);
    });
  }
  await database.run(`drop table ${name}`);
}

/** So that a follower with an older cursor learns that it missed something. */
async function recordRemoved(sql: Sql, day: string): Promise<void> {
  await sql.run(
    `insert into removed_matches (account_id, rule_id, platform, last_position)
     select day_heads.account_id, day_heads.rule_id, day_heads.platform, day_heads.last_position
     from day_heads join rules on rules.id = day_heads.rule_id and rules.state <> 'deleted'
     where event_day = $1
     on conflict (account_id, rule_id, platform) do update
       set last_position = greatest(removed_matches.last_position, excluded.last_position)`,
    [day],
  );
}
