import type { Database } from '../engines/database.ts';

/** Late replays reach a week back; two weeks ahead nobody has to be in a hurry. */
const daysBack = 7;
export const daysAhead = 14;
const purgeBatch = 5_000;

export function createMaintenance(database: Database) {
  return {
    async ensureAhead(): Promise<void> {
      await database.run(
        `select ensure_partitions(
           (now() at time zone 'UTC')::date - $1::integer, (now() at time zone 'UTC')::date + $2::integer)`,
        [daysBack, daysAhead],
      );
    },
    /** Days from today for which there are partitions. */
    async daysAhead(): Promise<number> {
      const row = await database.one<{ days: number | null }>(
        `select max(to_date(right(inhrelid::regclass::text, 8), 'YYYYMMDD')) - (now() at time zone 'UTC')::date as days
         from pg_inherits where inhparent = 'matches'::regclass`,
      );
      return row?.days ?? -1;
    },
    /** Removes some matches of deleted rules, and tombstones that are no longer needed; returns how many matches. */
    async purgeSome(): Promise<number> {
      const purged = await database.run(
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
        await database.run(
          `with gone as (
             delete from rules where state = 'deleted' and deleted_at < now() - interval '1 hour' returning id
           )
           delete from usage where rule_id in (select id from gone)`,
        );
      }
      return purged;
    },
  };
}
