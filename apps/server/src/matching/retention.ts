import type { Database, Sql } from '../engines/database.ts';
import type { Telemetry } from '../observability/telemetry.ts';
import { removeOldStories } from '../stories/stories.sql.ts';
import { daysAheadMax, newestEventDay, type PartitionRow, selectPartitions } from './partitions.ts';

/** Rows per statement. */
const removalsAtOnceMax = 5_000;

export interface RetentionOptions {
  readonly database: Database;
  readonly retentionDays: number;
  readonly telemetry: Pick<Telemetry, 'dayRemoved'>;
}

/**
 * Removes days past retention, oldest first: each partition is detached concurrently, then dropped. Runs under a
 * lease, because two at once would block each other.
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
  // An event's day may be in the future, so its match may be older than its day.
  await database.run(
    `delete from match_times
     where began < least($1::date, (now() at time zone 'UTC')::date) - $2::integer - $3::integer`,
    [newest, retentionDays, daysAheadMax],
  );
  while ((await removeOldRemovals(database, newest, retentionDays)) > 0);
  await removeOldStories(database, { newest, retentionDays });
}

/** Removals are kept as long as matches. A follower that was away for longer gets an error that it missed some. */
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
    [newest, retentionDays, removalsAtOnceMax],
  );
  return rows.length;
}

async function removePartition(database: Database, partition: PartitionRow): Promise<void> {
  const { name, parent, attached, detaching, day } = partition;
  if (attached) {
    if (parent === 'matches') await recordRemoved(database, day);
    // `concurrently` does not block others and waits for running transactions. If interrupted, only `finalize`
    // completes it.
    await database.run(
      `alter table ${parent} detach partition ${name} ${detaching ? 'finalize' : 'concurrently'}`,
    );
  }
  if (parent === 'matches') {
    await database.transaction(async (sql) => {
      // Repeated for matches that were written meanwhile.
      await recordRemoved(sql, day);
      await sql.run('delete from day_heads where event_day = $1', [day]);
      // Labels stay: they show how well the judge works.
      await sql.run('delete from match_relevance where event_day = $1 and label is null', [day]);
    });
  }
  await database.run(`drop table ${name}`);
}

/** A follower with an older cursor learns from this that it missed matches. */
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
