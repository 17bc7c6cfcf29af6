import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { Failure } from '../runtime/failure.ts';
import { type Database, openDatabase, type Sql } from './database.ts';
import { createPartitionedIndex, partitionedIndexOf } from './partitioned-index.ts';

const folder = new URL('../../migrations/', import.meta.url);

/** While a change of a table waits for its lock, every request that needs the table waits behind it. */
const lockWaitMs = 1_000;
/** Between two attempts, so that those requests are answered. */
const freeMs = 2_000;
const patienceMs = 600_000;
const turnAgainMs = 100;

/** A file of `migrations/`. It never changes once it was released: what it did is done. */
interface Migration {
  readonly name: string;
  readonly text: string;
  readonly checksum: string;
  /**
   * The newest migration that an older version must know to run beside this one, from its line `-- compatible with NAME`;
   * null: none can.
   */
  readonly compatibleWith: string | null;
  /** It has the line `-- outside of a transaction`: each of its statements, ended by a blank line, is one by itself. */
  readonly isOutside: boolean;
}

interface Applied {
  readonly name: string;
  readonly checksum?: string | null;
  readonly compatible_with?: string | null;
}

export interface MigrateOptions {
  /** Called before each attempt after the first. */
  readonly onWait?: (waiting: { migration: string; sessions: readonly string[] }) => void;
  readonly patienceMs?: number;
  /** The files, for tests. */
  readonly from?: URL;
}

/** The names of the migrations that the database lacks. Fails when it is not one that this version can work with. */
export async function planMigrations(url: string, { from = folder }: MigrateOptions = {}): Promise<string[]> {
  await using database = openOwn(url);
  return (await compare(database, await readMigrations(from))).map(({ name }) => name);
}

/** The last of our migrations: a database that has it has all of them. */
export async function newestMigration(): Promise<string> {
  return (await namesIn(folder)).at(-1) ?? '';
}

/** For those who do not migrate. */
export async function assertMigrated(url: string): Promise<void> {
  const missing = await planMigrations(url);
  if (missing.length === 0) return;
  throw new Failure(
    'failed_precondition',
    `The database lacks ${missing.join(', ')}: run \`earshot admin migrate --apply\` with the login of its owner.`,
  );
}

/**
 * Applies what is missing, each file in a transaction of its own; several nodes may start at once. With a login that does
 * not own the tables it only makes sure that nothing is missing. A lock that others keep is asked for again and again, a
 * second each time: whoever waits behind it is answered in between.
 */
export async function migrate(url: string, options: MigrateOptions = {}): Promise<string[]> {
  await using database = openOwn(url);
  const missing = await compare(database, await readMigrations(options.from ?? folder));
  if (missing.length === 0) return [];
  await prepareTable(database).catch(explainRights);
  const applied: string[] = [];
  for (const migration of missing) {
    if (await applyPatiently(database, migration, options)) applied.push(migration.name);
  }
  return applied;
}

/** A connection of its own: an index on a grown table takes longer than a statement of a request may. */
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
      return {
        name,
        text,
        checksum: createHash('sha256').update(text).digest('hex'),
        compatibleWith: /^-- compatible with (\S+)$/m.exec(text)?.[1] ?? null,
        isOutside: /^-- outside of a transaction$/m.test(text),
      };
    }),
  );
}

/** Those that are missing. */
async function compare(sql: Sql, migrations: readonly Migration[]): Promise<Migration[]> {
  const table = await sql.one<{ there: boolean }>(`select to_regclass('migrations') is not null as there`);
  if (!table?.there) return [...migrations];
  // As JSON, because a table of before has fewer columns.
  const rows = await sql.many<{ row: Applied }>('select to_jsonb(migrations) as row from migrations');
  const applied = new Map(rows.map(({ row }) => [row.name, row]));
  refuseOlder(applied);
  refuseNewer(migrations, [...applied.values()]);
  for (const { name, checksum } of migrations) {
    const before = applied.get(name)?.checksum;
    if (before === undefined || before === null || before === checksum) continue;
    throw new Failure(
      'failed_precondition',
      `${name} is not what was applied to this database: install the release again, its migrations must not be edited.`,
    );
  }
  return migrations.filter(({ name }) => !applied.has(name));
}

function refuseOlder(applied: ReadonlyMap<string, Applied>): void {
  if (!applied.has('0001_foundation.sql')) return;
  throw new Failure(
    'failed_precondition',
    'This database was made before the first release: start with an empty one (CHANGELOG.md).',
  );
}

/** A database that a newer version has migrated: some changes are made so that the version before can go on beside it. */
function refuseNewer(migrations: readonly Migration[], applied: readonly Applied[]): void {
  const known = new Set(migrations.map(({ name }) => name));
  const newest = migrations.at(-1)?.name ?? '';
  const foreign = applied.find(
    ({ name, compatible_with }) => !known.has(name) && !(compatible_with && compatible_with <= newest),
  );
  if (foreign === undefined) return;
  throw new Failure(
    'failed_precondition',
    `A newer version has migrated this database (${foreign.name}): start that version, or restore a backup from before.`,
  );
}

async function prepareTable(database: Database): Promise<void> {
  await inTurn(database, () =>
    database.transaction(async (sql) => {
      await sql.run(
        'create table if not exists migrations (name text primary key, applied_at timestamptz not null default now())',
      );
      await sql.run('alter table migrations add column if not exists checksum text');
      await sql.run('alter table migrations add column if not exists compatible_with text');
    }),
  );
}

/**
 * One node after the other. Asked for again and again, outside of any transaction: an index that another node makes
 * concurrently waits for statements and transactions that were there before it, also for those that wait for their turn.
 */
async function inTurn<Result>(database: Database, work: () => Promise<Result>): Promise<Result> {
  const ask = `select pg_try_advisory_lock(hashtext('earshot migrations')) as taken`;
  while (!(await database.one<{ taken: boolean }>(ask))?.taken) await sleep(turnAgainMs);
  try {
    return await work();
  } finally {
    await database.run(`select pg_advisory_unlock(hashtext('earshot migrations'))`);
  }
}

/** False when another node was faster. */
async function applyPatiently(
  database: Database,
  migration: Migration,
  { onWait, patienceMs: patience = patienceMs }: MigrateOptions,
): Promise<boolean> {
  const startedAt = performance.now();
  for (;;) {
    try {
      return await inTurn(database, () =>
        migration.isOutside
          ? applyOutside(database, migration)
          : database.transaction((sql) => applyInside(sql, migration)),
      );
    } catch (error) {
      if (!isLockTimeout(error)) return explainRights(error);
      const sessions = await longSessions(database);
      if (performance.now() - startedAt > patience) throw stillLocked(migration, sessions, error);
      onWait?.({ migration: migration.name, sessions });
      await sleep(freeMs);
    }
  }
}

async function applyInside(sql: Sql, migration: Migration): Promise<boolean> {
  if (await isApplied(sql, migration)) return false;
  await sql.run(`set local lock_timeout = ${lockWaitMs}`);
  await sql.run(migration.text);
  await record(sql, migration);
  return true;
}

/** For indexes that are made beside the writers. When it is interrupted it is run again, so its statements allow for that. */
async function applyOutside(database: Database, migration: Migration): Promise<boolean> {
  if (await isApplied(database, migration)) return false;
  const statements = migration.text.split(/\n\n+/).filter((text) => /^(?!--)\S/m.test(text));
  for (const statement of statements) {
    const index = await partitionedIndexOf(database, statement);
    if (index === null) await database.run(statement);
    else await createPartitionedIndex(database, index, lockWaitMs);
  }
  await record(database, migration);
  return true;
}

async function isApplied(sql: Sql, { name }: Migration): Promise<boolean> {
  return (await sql.one('select 1 from migrations where name = $1', [name])) !== null;
}

async function record(sql: Sql, { name, checksum, compatibleWith }: Migration): Promise<void> {
  await sql.run('insert into migrations (name, checksum, compatible_with) values ($1, $2, $3)', [
    name,
    checksum,
    compatibleWith,
  ]);
}

const isLockTimeout = (error: unknown) => error instanceof Error && 'code' in error && error.code === '55P03';

/** Who has been in a transaction for long: one of them has the lock. */
async function longSessions(database: Database): Promise<string[]> {
  const rows = await database.many<{ pid: number; name: string; seconds: number }>(
    `select pid, application_name as name, extract(epoch from now() - xact_start)::int as seconds from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid() and xact_start < now() - $1 * interval '1 ms'
     order by xact_start limit 5`,
    [lockWaitMs],
  );
  return rows.map(({ pid, name, seconds }) => `pid ${pid} (${name || 'unnamed'}), for ${seconds} s`);
}

function stillLocked({ name }: Migration, sessions: readonly string[], cause: unknown): Failure {
  const who = sessions.length > 0 ? sessions.join('; ') : 'none that this login may see';
  return new Failure(
    'failed_precondition',
    `${name} could not get its locks: wait until the long transactions are over, or end them. They are: ${who}.`,
    { cause },
  );
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
