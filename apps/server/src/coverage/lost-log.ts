import type { Database, Sql } from '../engines/database.ts';
import { bindLog, type EventLogState, lockBoundLog, readBoundLog } from '../event-log/bound-log.ts';
import { cutCoverage } from '../ingest/coverage-intervals.sql.ts';
import { pause } from '../runtime/worker.ts';

const pollIntervalMs = 100;
/**
 * A NATS node that was paused or partitioned acts as the leader for 1 or 2 seconds and returns an outdated log. So a
 * loss counts only after it was seen for this long.
 */
export const lossCertainAfterMs = 10_000;

type LogChange = 'same' | 'lost' | 'replaced' | 'restored';

export interface LogComparison {
  /** Time of the database before the log was read. */
  readonly since: Date;
  readonly fate: LogChange;
  /** Null if there is no log. */
  readonly log: EventLogState | null;
}

type ReadLog = () => Promise<EventLogState | null>;

/**
 * Compares the event log with the one that belongs to the database. If the log is lost, its unmatched events become a
 * gap on the ledger. Returns null if the signal is aborted before the comparison is certain.
 */
export async function followLog(
  database: Database,
  options: { readLog: ReadLog; certainAfterMs: number },
  signal: AbortSignal,
): Promise<LogComparison | null> {
  for (;;) {
    const comparison = await compareLog(database, options, signal);
    if (comparison !== 'uncertain') return comparison;
    if (signal.aborted) return null;
  }
}

async function compareLog(
  database: Database,
  { readLog, certainAfterMs }: { readLog: ReadLog; certainAfterMs: number },
  signal: AbortSignal,
): Promise<LogComparison | 'uncertain' | null> {
  const bound = await readBoundLog(database);
  const { readAt: since } = bound;
  let seen = await readLog();
  const certainAt = performance.now() + certainAfterMs;
  while (fateOf(bound, seen) !== 'same' && performance.now() < certainAt) {
    await pause(pollIntervalMs, signal);
    if (signal.aborted) return null;
    seen = await readLog();
  }
  // Nothing new was logged: skip the write and its disk flush.
  if (seen?.createdAt === bound.createdAt && seen?.lastSequence === bound.lastSequence)
    return { fate: 'same', log: seen, since };
  const isCertain = fateOf(bound, seen) !== 'same';
  const bindSeenLog = async (sql: Sql) => {
    const locked = await lockBoundLog(sql);
    // Another node may have read the log later and written first. A loss counts only if it is seen under the lock.
    const log = fateOf(locked, seen) === 'same' ? seen : await readLog();
    const fate = fateOf(locked, log);
    // Seen for the first time: it may be an outdated log.
    if (fate !== 'same' && !isCertain) return 'uncertain';
    if (fate !== 'same') await loseLog(sql);
    await bindLog(sql, log);
    return { fate, log, since };
  };
  return await database.transaction(bindSeenLog);
}

export function fateOf(
  bound: { createdAt: string | null; lastSequence: number },
  log: EventLogState | null,
): LogChange {
  if (bound.createdAt === null) return 'same';
  if (log === null) return 'lost';
  if (log.createdAt !== bound.createdAt) return 'replaced';
  return log.lastSequence < bound.lastSequence ? 'restored' : 'same';
}

/** Records the loss: received events that were not matched are gone, and known log sequences are void. */
export async function loseLog(sql: Sql): Promise<void> {
  const row = await sql.one<{ matched_through: Date }>('select matched_through from match_progress');
  await cutCoverage(sql, row?.matched_through ?? new Date(0));
  await sql.run('delete from log_check');
  await sql.run('delete from settled_batches');
}
