import type { Database } from '../engines/database.ts';
import type { EventLogState } from '../event-log/bound-log.ts';
import { awaitMatched, type MatchProgress } from '../event-log/log-progress.ts';
import type { Telemetry } from '../observability/telemetry.ts';
import { fateOf, followLog, lossCertainAfterMs } from './lost-log.ts';

const pollIntervalMs = 100;

/** Safe to record from several nodes: the latest time counts. */
export function createMatchedThrough(database: Database, certainAfterMs = lossCertainAfterMs) {
  return {
    /** Records nothing if another node has found that this log is lost or restored to an earlier state. */
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
 * Records up to which time all received events are matched. Without this, an answer during a matching backlog would
 * claim to be complete. If the log is gone, the loss is recorded first, then a new log is created.
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
  // The time was read before the log, so later events do not count.
  if (!(await awaitMatched(progress, { through: log.lastSequence, pollIntervalMs }, signal))) return;
  // If the log was restored meanwhile, the same sequences are other events. The next call handles that.
  if (fateOf(log, await readLog()) === 'same') await store.record(since, log);
}
