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

/** Removes some matches of deleted rules, and tombstones that are no longer needed; returns how many matches. */
export async function purgeSome(sql: Sql): Promise<number> {
  const purged = await sql.run(
    `delete from matches using (
       select matches.rule_id, matches.event_key, matches.event_day
       from rules join matches on matches.rule_id = rules.id
       where rules.state = 'deleted' limit $1
     ) as doomed
     where matches.rule_id = doomed.rule_id and matches.event_key = doomed.event_key
       and matches.event_day = doomed.event_day`,
    [purgeBatch],
  );
  // The tombstone outlives every batch that was matched before the deletion.
  if (purged === 0) {
    await sql.run(
      `with gone as (
         delete from rules where state = 'deleted' and deleted_at < now() - interval '1 hour' returning id
       )
       delete from usage where rule_id in (select id from gone)`,
    );
  }
  return purged;
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
  const { name, parent, attached, detaching } = partition;
  if (attached) {
    await recordRemoved(database, partition);
    // `concurrently` blocks nobody and waits for running transactions; when interrupted, only `finalize` completes it.
    await database.run(
      `alter table ${parent} detach partition ${name} ${detaching ? 'finalize' : 'concurrently'}`,
    );
  }
  // Once more for what was written meanwhile.
  await recordRemoved(database, partition);
  await database.run(`drop table ${name}`);
}

/** So that a follower with an older cursor learns that it missed something. */
async function recordRemoved(database: Database, { name, parent }: PartitionRow): Promise<void> {
  if (parent !== 'matches') return;
  await database.run(
    `insert into removed_matches (account_id, rule_id, platform, last_position)
     select matches.account_id, matches.rule_id, matches.platform, max(matches.position)
     from ${name} as matches join rules on rules.id = matches.rule_id and rules.state <> 'deleted'
     group by matches.account_id, matches.rule_id, matches.platform
     on conflict (account_id, rule_id, platform) do update
       set last_position = greatest(removed_matches.last_position, excluded.last_position)`,
  );
}
