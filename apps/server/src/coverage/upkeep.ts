import type { Database, Sql } from '../engines/database.ts';
import { bindLog, type EventLogState, lockBoundLog, readBoundLog } from '../event-log/bound-log.ts';
import { awaitMatched, type MatchProgress } from '../event-log/log-progress.ts';
import { cutCoverage } from '../ingest/coverage-intervals.sql.ts';
import { newestEventDay } from '../matching/upkeep.ts';
import type { Telemetry } from '../observability/telemetry.ts';
import { pause } from '../runtime/worker.ts';

const lookAgainMs = 100;
/**
 * A node of NATS that was paused or cut off takes itself for the leader until it learns better, within a second or two, and
 * answers with the log as it was before: what looks like a loss counts as one only when it looks like it for this long.
 */
const lossCertainAfterMs = 10_000;

/** What became of the event log since somebody last looked. */
type LogFate = 'same' | 'lost' | 'replaced' | 'went_back';

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
    /**
     * Compares the log with the one that was there before; what is lost with it is a gap on the ledger from now on. Null when the
     * signal is aborted before that is certain.
     */
    async follow(
      readLog: () => Promise<EventLogState | null>,
      signal: AbortSignal,
    ): Promise<FollowedLog | null> {
      const bound = await readBoundLog(database);
      const { readAt: since } = bound;
      let seen = await readLog();
      const certainAt = performance.now() + certainAfterMs;
      while (fateOf(bound, seen) !== 'same' && performance.now() < certainAt) {
        await pause(lookAgainMs, signal);
        if (signal.aborted) return null;
        seen = await readLog();
      }
      // Nothing came since: no row to write, which would be a flush of the disk every time.
      if (seen?.createdAt === bound.createdAt && seen?.lastSequence === bound.lastSequence)
        return { fate: 'same', log: seen, since };
      return { ...(await database.transaction((sql) => followLog(sql, seen, readLog))), since };
    },
  };
}

interface FollowedLog {
  /** The database's clock, before the log was read. */
  readonly since: Date;
  readonly fate: LogFate;
  /** Null when there is none. */
  readonly log: EventLogState | null;
}

async function followLog(
  sql: Sql,
  seen: EventLogState | null,
  readLog: () => Promise<EventLogState | null>,
): Promise<Omit<FollowedLog, 'since'>> {
  const bound = await lockBoundLog(sql);
  // Another node may have looked later than this one and have written first: a loss counts when it is seen under the lock.
  const log = fateOf(bound, seen) === 'same' ? seen : await readLog();
  const fate = fateOf(bound, log);
  if (fate !== 'same') await loseLog(sql);
  await bindLog(sql, log);
  return { fate, log };
}

function fateOf(
  bound: { createdAt: string | null; lastSequence: number },
  log: EventLogState | null,
): LogFate {
  if (bound.createdAt === null) return 'same';
  if (log === null) return 'lost';
  if (log.createdAt !== bound.createdAt) return 'replaced';
  return log.lastSequence < bound.lastSequence ? 'went_back' : 'same';
}

/** What was heard and not matched yet is gone; so is what was known of the log's sequences. */
export async function loseLog(sql: Sql): Promise<void> {
  const row = await sql.one<{ matched_through: Date }>('select matched_through from match_progress');
  await cutCoverage(sql, row?.matched_through ?? new Date(0));
  await sql.run('delete from log_check');
  await sql.run('delete from settled_batches');
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
  await awaitMatched(progress, { through: log.lastSequence, lookEveryMs: lookAgainMs }, signal);
  if (signal.aborted) return;
  // In a log that went back meanwhile, the same sequences are other events. The next time it is followed.
  if (fateOf(log, await readLog()) === 'same') await store.record(since, log);
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
