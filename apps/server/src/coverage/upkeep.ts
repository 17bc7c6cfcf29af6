import type { Database } from '../engines/database.ts';
import { awaitMatched, type MatchProgress } from '../event-log/log-progress.ts';
import { newestEventDay } from '../matching/upkeep.ts';

const lookAgainMs = 100;

/** Any number of nodes may record: the latest time counts. */
export function createMatchedThrough(database: Database) {
  return {
    /** The database's clock. */
    async now(): Promise<Date> {
      const row = await database.one<{ now: Date }>('select clock_timestamp() as now');
      return row?.now ?? new Date(0);
    },
    async record(through: Date): Promise<void> {
      await database.run('update match_progress set matched_through = greatest(matched_through, $1)', [
        through,
      ]);
    },
  };
}

export interface RecordMatchedThroughOptions {
  readonly store: ReturnType<typeof createMatchedThrough>;
  readonly progress: MatchProgress;
}

/**
 * Records until when everything that was heard has been matched. Without it, an answer while matching lags would claim
 * to be complete although some of what was heard still waits in the event log.
 */
export async function recordMatchedThrough(
  { store, progress }: RecordMatchedThroughOptions,
  signal: AbortSignal,
): Promise<void> {
  // The time is read first: what is logged after it does not count.
  const through = await store.now();
  await awaitMatched(progress, lookAgainMs, signal);
  if (!signal.aborted) await store.record(through);
}

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
