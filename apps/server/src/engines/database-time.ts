import type { Sql } from './database.ts';

/*
 * Times that are compared with stored times use the clock of the database. If the clock of one node is wrong, other nodes must not
 * suffer from what it stored.
 */

/** The time of the transaction, like `now()`. */
export async function databaseTime(sql: Pick<Sql, 'one'>): Promise<Date> {
  const row = await sql.one<{ now: Date }>('select now() as now');
  if (!row) throw new Error('the database returned no time');
  return row.now;
}

/** A clock that continues from a time that the database has just returned. */
export function clockFrom(time: Date): () => number {
  const readAt = performance.now();
  return () => time.getTime() + performance.now() - readAt;
}

export interface DatabaseClock {
  /** The time of the database, without a query. */
  readonly nowMs: () => number;
  /** Reads the time again: clocks drift apart, and the clock of a suspended machine stops. */
  sync(): Promise<void>;
}

export async function openDatabaseClock(database: Pick<Sql, 'one'>): Promise<DatabaseClock> {
  let nowMs = clockFrom(await databaseTime(database));
  return {
    nowMs: () => nowMs(),
    async sync() {
      nowMs = clockFrom(await databaseTime(database));
    },
  };
}
