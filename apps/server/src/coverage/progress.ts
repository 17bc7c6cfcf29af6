import type { Database } from '../engines/database.ts';
import type { EventLogState } from '../event-log/bound-log.ts';
import { awaitMatched, type MatchProgress } from '../event-log/log-progress.ts';
import type { Telemetry } from '../observability/telemetry.ts';
import { fateOf, followLog, lossCertainAfterMs } from './lost-log.ts';

const pollIntervalMs = 100;

/** Any number of nodes may record: the latest time counts. */
export function createMatchedThrough(database: Database, certainAfterMs = lossCertainAfterMs) {
  return {
    /** Unless this log was lost meanwhile, or went back behind what was seen of it, as some other node has found. */
    async record(through: Date, { createdAt, lastSequence }: EventLogState): Promise<void> {
      await database.prepared(
        `update match_progress set matched_through = greatest(matched_through, $1)
         where exists (select 1 from event_log where created_at = $2 and last_sequence >= $3)`,
        [through, createdAt, lastSequence],
      );
    },
    follow: (readLog: () => Promise<EventLogState | null>, signal: AbortSignal) =>
      followLog(database, { readLog, certainAfterMs }, signal),
  };
}

export interface RecordMatchedThroughOptions {
  readonly store: ReturnType<typeof createMatchedThrough>;
  readonly progress: MatchProgress;
  readonly readLog: () => Promise<EventLogState | null>;
  readonly makeLog: () => Promise<void>;
  readonly telemetry: Pick<Telemetry, 'eventLogLost'>;
}

/**
 * Records until when everything that was heard has been matched. Without it, an answer while matching lags would claim
 * to be complete although some of what was heard still waits in the event log. A log that is gone is made again, after
 * what was lost with it is on the ledger.
 */
export async function recordMatchedThrough(
  { store, progress, readLog, makeLog, telemetry }: RecordMatchedThroughOptions,
  signal: AbortSignal,
): Promise<void> {
  const followed = await store.follow(readLog, signal);
  if (followed === null) return;
  const { fate, log, since } = followed;
  if (fate !== 'same') telemetry.eventLogLost({ fate });
  if (log === null) await makeLog();
  if (fate !== 'same' || log === null) return;
  // The time was read before the log: what is logged after it does not count.
  await awaitMatched(progress, { through: log.lastSequence, lookEveryMs: pollIntervalMs }, signal);
  if (signal.aborted) return;
  // In a log that went back meanwhile, the same sequences are other events. The next time it is followed.
  if (fateOf(log, await readLog()) === 'same') await store.record(since, log);
}
