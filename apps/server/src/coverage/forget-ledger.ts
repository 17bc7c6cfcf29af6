import type { Database } from '../engines/database.ts';
import { newestEventDay } from '../matching/partitions.ts';

/**
 * Removes coverage history that is older than GetCoverage returns. One more day is kept, because a period without
 * rows would look like a gap.
 */
export async function forgetLedger(database: Database, retentionDays: number): Promise<void> {
  const newestDay = await newestEventDay(database);
  if (newestDay === null) return;
  // If the clock jumped ahead, the newest event is the reference.
  const tooOld = `least($1::date + 1, now()) - ($2::integer + 1) * interval '1 day'`;
  const values = [newestDay, retentionDays];
  // The last interval of a source stays, because the next gap begins where it ends. Repairs are deleted with their
  // interval.
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
