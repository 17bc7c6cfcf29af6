import { forgetLedger } from '../coverage/ledger-retention.ts';
import type { Database } from '../engines/database.ts';

interface PartitionRow {
  name: string;
  parent: string;
  day: string;
  attached: boolean;
  detaching: boolean;
}

/** Whole days go at once: a table that is detached without blocking anybody, and then dropped. */
export function createRetention(database: Database, retentionDays: number) {
  return {
    /** Removes the days that are older than what is kept, the oldest first. */
    async removeExpired(removed: (partition: string) => void): Promise<void> {
      const newest = await newestDay(database);
      if (newest === null) return;
      const partitions = await database.many<PartitionRow>(
        `${selectPartitions} where day < least($1::date, (now() at time zone 'UTC')::date) - $2::integer
         order by day, name`,
        [newest, retentionDays],
      );
      for (const partition of partitions) {
        await removePartition(database, partition);
        removed(partition.name);
      }
      await forgetLedger(database, newest);
    },
  };
}

/** One that was detached and not dropped, because the process died between the two, is still found by its name. */
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
async function newestDay(database: Database): Promise<string | null> {
  const partitions = await database.many<PartitionRow>(
    `${selectPartitions} where attached and parent = 'posts' order by day desc`,
  );
  for (const { name, day } of partitions) {
    const row = await database.one<{ used: boolean }>(`select exists (select 1 from ${name}) as used`);
    if (row?.used) return day;
  }
  return null;
}

async function removePartition(database: Database, partition: PartitionRow): Promise<void> {
  const { name, parent, attached, detaching } = partition;
  if (attached) {
    await noteRemoved(database, partition);
    // `concurrently` waits for others and keeps nobody waiting; cut short, it stays half done until `finalize`.
    await database.run(
      `alter table ${parent} detach partition ${name} ${detaching ? 'finalize' : 'concurrently'}`,
    );
  }
  // Once more for what came meanwhile.
  await noteRemoved(database, partition);
  await database.run(`drop table ${name}`);
}

/** So that a follower whose cursor is older learns that it missed something. */
async function noteRemoved(database: Database, { name, parent }: PartitionRow): Promise<void> {
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
