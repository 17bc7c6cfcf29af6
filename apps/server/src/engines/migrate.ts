import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { Failure } from '../runtime/failure.ts';
import { type Database, openDatabase, type Sql } from './database.ts';

const folder = new URL('../../migrations/', import.meta.url);

/** A file of `migrations/`. It never changes after its release. */
interface Migration {
  readonly name: string;
  readonly text: string;
  readonly checksum: string;
}

interface MigrateOptions {
  /** The folder with the files, for tests. */
  readonly from?: URL;
}

/** Returns the names of missing migrations. Fails if this version cannot work with the database. */
export async function planMigrations(url: string, { from = folder }: MigrateOptions = {}): Promise<string[]> {
  await using database = openOwn(url);
  return (await findMissing(database, await readMigrations(from))).map(({ name }) => name);
}

/** The name of the last migration. A database that has it has all of them. */
export async function newestMigration(): Promise<string> {
  return (await namesIn(folder)).at(-1) ?? '';
}

/** Fails if the database lacks a migration. For callers that do not migrate. */
export async function assertMigrated(url: string): Promise<void> {
  const missing = await planMigrations(url);
  if (missing.length === 0) return;
  throw new Failure(
    'failed_precondition',
    `The database lacks ${missing.join(', ')}. Run \`earshot admin migrate --apply\` with the login of its owner.`,
    { details: { reason: 'not_configured' } },
  );
}

/**
 * Applies the missing migrations in one transaction and returns their names. Several nodes may start at once: one migrates, the
 * others wait for its lock. A login that does not own the tables can only check that nothing is missing.
 */
export async function migrate(url: string, { from = folder }: MigrateOptions = {}): Promise<string[]> {
  await using database = openOwn(url);
  const migrations = await readMigrations(from);
  if ((await findMissing(database, migrations)).length === 0) return [];
  return await database
    .transaction(async (sql) => {
      await sql.run(`select pg_advisory_xact_lock(hashtext('earshot migrations'))`);
      await sql.run(
        `create table if not exists migrations (
           name text primary key, checksum text not null, applied_at timestamptz not null default now())`,
      );
      const missing = await findMissing(sql, migrations);
      for (const { name, text, checksum } of missing) {
        await sql.run(text);
        await sql.run('insert into migrations (name, checksum) values ($1, $2)', [name, checksum]);
      }
      return missing.map(({ name }) => name);
    })
    .catch(explainRights);
}

/** Opens a separate connection: a migration may take longer than the statement timeout of requests allows. */
function openOwn(url: string): Database {
  return openDatabase({ url, connectionsMax: 1, statementTimeoutMs: 0, onIdleError: () => undefined });
}

async function namesIn(from: URL): Promise<string[]> {
  return (await readdir(from)).filter((name) => name.endsWith('.sql')).toSorted();
}

async function readMigrations(from: URL): Promise<Migration[]> {
  const names = await namesIn(from);
  return await Promise.all(
    names.map(async (name) => {
      const text = await readFile(new URL(name, from), 'utf8');
      return { name, text, checksum: createHash('sha256').update(text).digest('hex') };
    }),
  );
}

async function findMissing(sql: Sql, migrations: readonly Migration[]): Promise<Migration[]> {
  const table = await sql.one<{ there: boolean }>(`select to_regclass('migrations') is not null as there`);
  if (!table?.there) return [...migrations];
  const rows = await sql.many<{ name: string; checksum: string }>('select name, checksum from migrations');
  const applied = new Map(rows.map(({ name, checksum }) => [name, checksum]));
  const newer = rows.find(({ name }) => !migrations.some((known) => known.name === name));
  if (newer !== undefined) {
    throw new Failure(
      'failed_precondition',
      `A newer version has migrated this database (${newer.name}). Start that version, or restore a backup from before.`,
      { details: { reason: 'not_configured' } },
    );
  }
  const edited = migrations.find(({ name, checksum }) => (applied.get(name) ?? checksum) !== checksum);
  if (edited !== undefined) {
    throw new Failure(
      'failed_precondition',
      `${edited.name} differs from what was applied to this database. Install the release again: its migrations must not be edited.`,
      { details: { reason: 'not_configured' } },
    );
  }
  return migrations.filter(({ name }) => !applied.has(name));
}

const insufficientPrivilege = '42501';

function explainRights(error: unknown): never {
  if (!(error instanceof Error) || !('code' in error) || error.code !== insufficientPrivilege) throw error;
  throw new Failure(
    'failed_precondition',
    'The database must be migrated, but this login may not do it. Set EARSHOT_MIGRATION_DATABASE_URL to the login of its owner, or first start a node that has it.',
    { details: { reason: 'not_configured' }, cause: error },
  );
}
