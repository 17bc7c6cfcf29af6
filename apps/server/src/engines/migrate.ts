import { readdir, readFile } from 'node:fs/promises';
import { type Database, openDatabase } from './database.ts';

const folder = new URL('../../migrations/', import.meta.url);

/** Applies the missing files in order, all in one transaction; several nodes may start at once. */
export async function migrate(url: string): Promise<string[]> {
  await using database = openDatabase({ url, connectionsMax: 1, onIdleError: () => undefined });
  const files = (await readdir(folder)).filter((name) => name.endsWith('.sql')).toSorted();
  return await database.transaction(async (sql) => {
    await sql.run(`select pg_advisory_xact_lock(hashtext('earshot migrations'))`);
    await sql.run(
      `create table if not exists migrations (name text primary key, applied_at timestamptz not null default now())`,
    );
    const applied = new Set(
      (await sql.many<{ name: string }>('select name from migrations')).map((row) => row.name),
    );
    if (applied.has('0001_foundation.sql')) {
      throw new Error(
        'This database was made before the first release: start with an empty one (CHANGELOG.md).',
      );
    }
    const missing = files.filter((name) => !applied.has(name));
    for (const name of missing) {
      await sql.run(await readFile(new URL(name, folder), 'utf8'));
      await sql.run('insert into migrations (name) values ($1)', [name]);
    }
    return missing;
  });
}

/** Refuses a PostgreSQL that may lose committed transactions in a crash (I1). */
export async function assertDurable(url: string): Promise<void> {
  await using database = openDatabase({ url, connectionsMax: 1, onIdleError: () => undefined });
  for (const setting of ['fsync', 'full_page_writes', 'synchronous_commit']) {
    const row = await database.one<{ value: string }>('select current_setting($1) as value', [setting]);
    if (row?.value === 'off') {
      throw new Error(
        `PostgreSQL runs with ${setting} = off and would lose matches in a crash: set it to on.`,
      );
    }
  }
}

export interface Installation {
  readonly id: string;
  readonly cursorSecret: Buffer;
}

export async function readInstallation(database: Database): Promise<Installation> {
  const row = await database.one<{ id: string; cursor_secret: Buffer }>(
    'select id, cursor_secret from installation',
  );
  if (!row) throw new Error('the database has no installation row: was it migrated?');
  return { id: row.id, cursorSecret: row.cursor_secret };
}
