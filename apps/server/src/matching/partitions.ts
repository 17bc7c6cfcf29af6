import type { Database, Sql } from '../engines/database.ts';
import type { Telemetry } from '../observability/telemetry.ts';

/* Matches and posts are partitioned by the UTC day of the event. Partitions are created ahead of time. */

/** Late replays reach back a week. Two weeks ahead leave time to notice that creating partitions fails. */
const daysBack = 7;
export const daysAheadMax = 14;

export async function keepPartitionsAhead({
  database,
  telemetry,
}: {
  readonly database: Database;
  readonly telemetry: Pick<Telemetry, 'partitionsAhead'>;
}): Promise<void> {
  // Also reported before, so that the number falls if partitions cannot be created.
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

/** Number of days from today that have partitions. */
export async function daysAhead(sql: Sql): Promise<number> {
  const row = await sql.one<{ days: number | null }>(
    `select max(to_date(right(inhrelid::regclass::text, 8), 'YYYYMMDD')) - (now() at time zone 'UTC')::date as days
     from pg_inherits where inhparent = 'matches'::regclass`,
  );
  return row?.days ?? -1;
}

/** The days that have partitions, in order. */
export async function partitionDays(sql: Sql): Promise<ReadonlySet<string>> {
  const rows = await sql.many<{ day: string }>(
    `select to_char(to_date(right(inhrelid::regclass::text, 8), 'YYYYMMDD'), 'YYYY-MM-DD') as day
     from pg_inherits where inhparent = 'matches'::regclass and not inhdetachpending order by day`,
  );
  return new Set(rows.map((row) => row.day));
}

export interface PartitionRow {
  name: string;
  parent: string;
  day: string;
  attached: boolean;
  detaching: boolean;
}

/** Found by name, to include partitions that were detached but not dropped because of a crash. */
export const selectPartitions = `select name, parent, to_char(day, 'YYYY-MM-DD') as day, attached, detaching from (
  select relname as name, split_part(relname, '_', 1) as parent, to_date(right(relname, 8), 'YYYYMMDD') as day,
    inhrelid is not null as attached, coalesce(inhdetachpending, false) as detaching
  from pg_class left join pg_inherits on inhrelid = pg_class.oid
  where relkind = 'r' and relnamespace = current_schema::regnamespace and relname ~ '^(matches|posts)_[0-9]{8}$'
) as partitions`;

/**
 * The day of the newest event. If the clock is ahead, retention counts from this day, so that a clock jump does not
 * remove everything.
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
