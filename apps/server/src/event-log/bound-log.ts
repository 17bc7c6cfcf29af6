import type { Database, Sql } from '../engines/database.ts';
import type { Nats } from '../engines/nats.ts';
import { type EventsStreamOptions, ensureEventsStream, findEventsStream } from './events-stream.ts';

/** The event log as NATS has it. */
export interface EventLogState {
  /** Differs when the log was created anew. */
  readonly createdAt: string;
  readonly lastSequence: number;
}

/** Null when there is none. */
export async function readEventLog(nats: Nats): Promise<EventLogState | null> {
  const info = await findEventsStream(nats);
  return info && { createdAt: info.created, lastSequence: info.state.last_seq };
}

/** The event log that belongs to the database is not on this NATS server. */
export class ForeignLog extends Error {
  constructor() {
    super(
      'The event log of this database is not on this NATS server. Is EARSHOT_NATS_URL right? If the log is lost: ' +
        'earshot admin after-restore --log-lost. If this is a copy of another installation: earshot admin after-restore --copy',
    );
    this.name = 'ForeignLog';
  }
}

/**
 * At the start: makes the log of a database that has none, and refuses any other than its own. A copy of the database that
 * is started elsewhere would take the upstream rules of the original for its own, and remove those that it does not know.
 */
export async function claimEventLog(
  database: Database,
  nats: Nats,
  options: EventsStreamOptions,
): Promise<void> {
  const bound = (await readBoundLog(database)).createdAt;
  if (bound !== null && (await readEventLog(nats))?.createdAt !== bound) throw new ForeignLog();
  await ensureEventsStream(nats, options);
  if (bound !== null) return;
  const made = await readEventLog(nats);
  await database.run('update event_log set created_at = $1 where created_at is null', [
    made?.createdAt ?? null,
  ]);
}

/** The event log that belongs to the database. */
export interface BoundLog {
  readonly createdAt: string | null;
  readonly lastSequence: number;
  /** By the database's clock. */
  readonly readAt: Date;
}

export const readBoundLog = (sql: Sql) => boundLog(sql, '');
export const lockBoundLog = (sql: Sql) => boundLog(sql, 'for update');

async function boundLog(sql: Sql, lock: 'for update' | ''): Promise<BoundLog> {
  const [row] = await sql.prepared<{ created_at: string | null; last_sequence: number; read_at: Date }>(
    `select created_at, last_sequence, clock_timestamp() as read_at from event_log ${lock}`,
    [],
  );
  return {
    createdAt: row?.created_at ?? null,
    lastSequence: row?.last_sequence ?? 0,
    readAt: row?.read_at ?? new Date(0),
  };
}

/** Null: the next log is accepted. */
export async function bindLog(sql: Sql, log: EventLogState | null): Promise<void> {
  await sql.run('update event_log set created_at = $1, last_sequence = $2', [
    log?.createdAt ?? null,
    log?.lastSequence ?? 0,
  ]);
}
