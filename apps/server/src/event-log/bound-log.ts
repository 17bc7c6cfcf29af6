import type { Database, Sql } from '../engines/database.ts';
import type { Nats } from '../engines/nats.ts';
import { type EventsStreamOptions, ensureEventsStream, findEventsStream } from './events-stream.ts';

/** The state of the event log in NATS. */
export interface EventLogState {
  /** Changes when the log is created again. */
  readonly createdAt: string;
  readonly lastSequence: number;
}

/** Null if there is no log. */
export async function readEventLog(nats: Nats): Promise<EventLogState | null> {
  const info = await findEventsStream(nats);
  return info && { createdAt: info.created, lastSequence: info.state.last_seq };
}

/** The event log that belongs to the database is not on this NATS server. */
export class ForeignLog extends Error {
  constructor() {
    super(
      'The event log of this database is not on this NATS server. Check EARSHOT_NATS_URL. If the log is lost, run ' +
        '"earshot admin after-restore --log-lost". If this is a copy of another installation, run "earshot admin after-restore --copy".',
    );
    this.name = 'ForeignLog';
  }
}

/**
 * Creates the log for a database without one, and refuses any other log. A copy of the database that runs elsewhere
 * would otherwise remove upstream rules of the original.
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
  /** Time of the database. */
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

/** Null makes the database accept the next log. */
export async function bindLog(sql: Sql, log: EventLogState | null): Promise<void> {
  await sql.run('update event_log set created_at = $1, last_sequence = $2', [
    log?.createdAt ?? null,
    log?.lastSequence ?? 0,
  ]);
}
