import type { Sql } from './database.ts';

/*
 * What is compared with stored times is a time of the database: the clock of one node may be wrong, and then the others must not suffer
 * from what it stored.
 */

/** The time of the transaction, as `now()`. */
export async function databaseTime(sql: Pick<Sql, 'one'>): Promise<Date> {
  const row = await sql.one<{ now: Date }>('select now() as now');
  if (!row) throw new Error('the database returned no time');
  return row.now;
}

/** A clock that counts on from a time that the database returned just now. */
export function clockFrom(time: Date): () => number {
  const readAt = performance.now();
  return () => time.getTime() + performance.now() - readAt;
}

export interface DatabaseClock {
  /** The time of the database, without a query. */
  readonly nowMs: () => number;
  /** Reads it again: the clocks drift apart, and that of a suspended machine stops. */
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
