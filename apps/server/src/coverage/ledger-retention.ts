import type { Database } from '../engines/database.ts';

/** A day more than anybody can ask for (coverage/get-coverage.ts): without its rows a time would look like a gap. */
const keptDays = 31;
/** `$1` is the day of the newest event, for which the clock is no substitute: it may jump. */
const tooOld = `least($1::date + 1, now()) - interval '${keptDays} days'`;

/** The history of listening that nobody can ask for any more. */
export async function forgetLedger(database: Database, newestDay: string): Promise<void> {
  // A source's last interval stays: the next gap begins where it ends. The repairs of a gap go with the interval.
  await database.run(
    `delete from coverage where proven_until < ${tooOld} and exists (
       select 1 from coverage later where later.source_id = coverage.source_id and later.from_at > coverage.from_at)`,
    [newestDay],
  );
  for (const history of ['watches', 'slot_services', 'slot_gaps']) {
    await database.run(`delete from ${history} where to_at < ${tooOld}`, [newestDay]);
  }
  await database.run(`delete from repair_spending where day < ${tooOld}`, [newestDay]);
}
