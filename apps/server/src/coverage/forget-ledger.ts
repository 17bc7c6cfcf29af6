import type { Database } from '../engines/database.ts';
import { newestEventDay } from '../matching/partitions.ts';

/**
 * Removes the history of listening that nobody can ask for any more. It is kept for a day longer than GetCoverage
 * reaches back, because a time without rows would look like a gap.
 */
export async function forgetLedger(database: Database, retentionDays: number): Promise<void> {
  const newestDay = await newestEventDay(database);
  if (newestDay === null) return;
  // Counted from the newest event when the clock is ahead of it: the clock may jump.
  const tooOld = `least($1::date + 1, now()) - ($2::integer + 1) * interval '1 day'`;
  const values = [newestDay, retentionDays];
  // A source's last interval stays: the next gap begins where it ends. The repairs of a gap go with the interval.
  await database.run(
    `delete from coverage where proven_until < ${tooOld} and exists (
       select 1 from coverage later where later.source_id = coverage.source_id and later.from_at > coverage.from_at)`,
    values,
  );
  for (const history of ['watches', 'slot_services', 'slot_gaps']) {
    await database.run(`delete from ${history} where to_at < ${tooOld}`, values);
  }
  await database.run(`delete from repair_spending where day < ${tooOld}`, values);
}
