import type { Database } from '../src/engines/database.ts';

const clockSchema = 'test_clock';

/** Makes the database find functions in the schema of the test's clock first. */
export function withClock(databaseUrl: string): string {
  const url = new URL(databaseUrl);
  url.searchParams.set('options', `-c search_path=${clockSchema},public,pg_catalog`);
  return url.href;
}

export interface DatabaseClock {
  /** How far `now()` of the database is ahead of the real time. */
  readonly offsetMs: number;
  pass(ms: number): Promise<void>;
  /** From now on, only `pass` moves the clock. */
  freeze(): Promise<void>;
  /** Advances to this time, unless it has passed. */
  passTo(time: string): Promise<void>;
}

/** Moves `now()` of the database for all statements of the server, but not for the schema itself (defaults, functions). */
export function createDatabaseClock(database: Database, onPassed = () => {}): DatabaseClock {
  let offsetMs = 0;
  let base = 'pg_catalog.now()';
  const pass = async (ms: number): Promise<void> => {
    offsetMs += ms;
    await setNow(database, `${base} + interval '${offsetMs} ms'`);
    onPassed();
  };
  return {
    get offsetMs() {
      return offsetMs;
    },
    pass,
    async freeze() {
      base = `timestamptz '${new Date().toISOString()}'`;
      await pass(0);
    },
    passTo: (time) => pass(Math.max(0, Date.parse(time) - Date.now() - offsetMs)),
  };
}

/** Stops `now()` of the database at this time. */
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
    const row = await sql.one<{ works: boolean }>(`select now() = ${clockSchema}.now() as works`);
    if (!row?.works) throw new Error('open the database with withClock(url)');
  });
}
