import type { Database } from '../src/engines/database.ts';

/** The schema in which a test database looks for functions first. */
export const clockSchema = 'test_clock';

export interface DatabaseClock {
  /** How far `now()` of the database is ahead of the real time. */
  readonly offsetMs: number;
  pass(ms: number): Promise<void>;
  /** Until this time, if it is not over. */
  passTo(time: string): Promise<void>;
}

/** Moves `now()` of the database for all statements of the server, but not what the schema itself does (defaults, functions). */
export function createDatabaseClock(database: Database): DatabaseClock {
  let offsetMs = 0;
  const pass = async (ms: number): Promise<void> => {
    offsetMs += ms;
    await setNow(database, `pg_catalog.now() + interval '${offsetMs} ms'`);
  };
  return {
    get offsetMs() {
      return offsetMs;
    },
    pass,
    passTo: (time) => pass(Math.max(0, Date.parse(time) - Date.now() - offsetMs)),
  };
}

/** Lets `now()` of the database stand still at this time. */
export async function freezeDatabase(database: Database, time: Date): Promise<void> {
  await setNow(database, `timestamptz '${time.toISOString()}'`);
}

async function setNow(database: Database, expression: string): Promise<void> {
  await database.transaction(async (sql) => {
    await sql.run(`create schema if not exists ${clockSchema}`);
    await sql.run(`grant usage on schema ${clockSchema} to public`);
    await sql.run(
      `create or replace function ${clockSchema}.now() returns timestamptz language sql stable as $$select ${expression}$$`,
    );
  });
}
