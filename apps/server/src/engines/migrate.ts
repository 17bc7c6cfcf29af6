import { readdir, readFile } from 'node:fs/promises';
import { Failure } from '../runtime/failure.ts';
import { type Database, openDatabase, type Sql } from './database.ts';

const folder = new URL('../../migrations/', import.meta.url);

/**
 * Applies the missing files in order, all in one transaction; several nodes may start at once. With a login that does not
 * own the tables it only makes sure that nothing is missing.
 */
export async function migrate(url: string): Promise<string[]> {
  await using database = openDatabase({ url, connectionsMax: 1, onIdleError: () => undefined });
  const files = (await readdir(folder)).filter((name) => name.endsWith('.sql')).toSorted();
  if ((await missingOf(database, files)).length === 0) return [];
  return await database.transaction((sql) => applyMissing(sql, files)).catch(explainRights);
}

async function missingOf(sql: Sql, files: readonly string[]): Promise<string[]> {
  const table = await sql.one<{ there: boolean }>(`select to_regclass('migrations') is not null as there`);
  if (!table?.there) return [...files];
  const rows = await sql.many<{ name: string }>('select name from migrations');
  const applied = new Set(rows.map((row) => row.name));
  if (applied.has('0001_foundation.sql')) {
    throw new Error(
      'This database was made before the first release: start with an empty one (CHANGELOG.md).',
    );
  }
  return files.filter((name) => !applied.has(name));
}

async function applyMissing(sql: Sql, files: readonly string[]): Promise<string[]> {
  await sql.run(`select pg_advisory_xact_lock(hashtext('earshot migrations'))`);
  await sql.run(
    `create table if not exists migrations (name text primary key, applied_at timestamptz not null default now())`,
  );
  const missing = await missingOf(sql, files);
  for (const name of missing) {
    await sql.run(await readFile(new URL(name, folder), 'utf8'));
    await sql.run('insert into migrations (name) values ($1)', [name]);
  }
  return missing;
}

const insufficientPrivilege = '42501';

function explainRights(error: unknown): never {
  if (!(error instanceof Error) || !('code' in error) || error.code !== insufficientPrivilege) throw error;
  throw new Failure(
    'failed_precondition',
    'The database has to be migrated, and this login may not do it: set EARSHOT_MIGRATION_DATABASE_URL to the login of its owner, or start a node that has it first.',
    { cause: error },
  );
}

/** What is wrong with the logins, for the operator: each lets a mistake of ours, or a thief, do more than it must. */
export async function findWideRights(database: Database, hasAccountLogin: boolean): Promise<string[]> {
  const role = await database.one<{ name: string; superuser: boolean; owner: boolean }>(
    `select current_user as name, rolsuper as superuser,
       pg_has_role(current_user, (select relowner from pg_class where oid = 'rules'::regclass), 'member') as owner
     from pg_roles where rolname = current_user`,
  );
  return [
    ...(role?.superuser ? [`EARSHOT_DATABASE_URL logs in as ${role.name}, a superuser`] : []),
    ...(role?.owner && !role.superuser
      ? [`EARSHOT_DATABASE_URL logs in as ${role.name}, who owns the tables`]
      : []),
    ...(hasAccountLogin ? [] : ['EARSHOT_ACCOUNT_DATABASE_URL is not set']),
  ];
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
