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
  /**
   * Reads the time again: clocks drift apart, and the clock of a suspended machine stops. Returns how far the clock of the node
   * is ahead of the database.
   */
  sync(): Promise<{ aheadMs: number }>;
}

export async function openDatabaseClock(database: Pick<Sql, 'one'>): Promise<DatabaseClock> {
  let nowMs = clockFrom(await databaseTime(database));
  return {
    nowMs: () => nowMs(),
    async sync() {
      const beforeMs = Date.now();
      const time = await databaseTime(database);
      nowMs = clockFrom(time);
      return { aheadMs: aheadMs(time.getTime(), { beforeMs, afterMs: Date.now() }) };
    },
  };
}

/** The smallest difference that explains an answer which arrived between two readings of the clock. Negative: behind. */
export function aheadMs(
  databaseMs: number,
  { beforeMs, afterMs }: { readonly beforeMs: number; readonly afterMs: number },
): number {
  return Math.max(0, beforeMs - databaseMs) + Math.min(0, afterMs - databaseMs);
}
