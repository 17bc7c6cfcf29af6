import { randomBytes } from 'node:crypto';
import { Failure } from '../runtime/failure.ts';
import { type Database, openDatabase, type Sql } from './database.ts';

/** Problems with the logins, for the operator. Each gives a bug or an attacker more rights than necessary. */
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

const pooled =
  'A connection pool that drops session settings, such as PgBouncer, is between Earshot and PostgreSQL. Set the address of PostgreSQL itself. Each node opens at most 32 connections.';

/**
 * Refuses a connection pool that keeps no session. Prepared statements would fail on it, and nothing would end a statement that
 * hangs. PgBouncer refuses Earshot's settings unless it is configured to ignore them.
 */
export async function assertDirect(url: string): Promise<void> {
  const statementTimeoutMs = 29_000;
  await using database = openDatabase({
    url,
    connectionsMax: 1,
    statementTimeoutMs,
    onIdleError: () => undefined,
  });
  const row = await database
    .one<{ kept: boolean }>(`select current_setting('statement_timeout')::interval = $1::interval as kept`, [
      `${statementTimeoutMs} ms`,
    ])
    .catch((error: unknown) => {
      if (error instanceof Failure && isProtocolViolation(error.cause)) throw new Error(pooled);
      throw error;
    });
  if (!row?.kept) throw new Error(pooled);
}

const isProtocolViolation = (error: unknown) =>
  error instanceof Error && 'code' in error && error.code === '08P01';

/** Refuses a PostgreSQL that may lose committed transactions in a crash (I1). */
export async function assertDurable(url: string): Promise<void> {
  await using database = openDatabase({ url, connectionsMax: 1, onIdleError: () => undefined });
  for (const setting of ['fsync', 'full_page_writes', 'synchronous_commit']) {
    const row = await database.one<{ value: string }>('select current_setting($1) as value', [setting]);
    if (row?.value === 'off') {
      throw new Error(
        `PostgreSQL runs with ${setting} = off and would lose matches in a crash. Set it to on.`,
      );
    }
  }
}

export interface Installation {
  readonly id: string;
}

export async function readInstallation(database: Database): Promise<Installation> {
  const row = await database.one<Installation>('select id from installation');
  if (!row) throw new Error('the database has no installation row: was it migrated?');
  return row;
}

/** How often a node reads the cursor secrets again. */
export const cursorSecretsEveryMs = 2_000;
/** Longer than any node takes to read them. */
const learnt = `interval '15 seconds'`;

/** The first one signs, all are accepted. */
export async function readCursorSecrets(sql: Sql): Promise<Buffer[]> {
  const row = await sql.one<{ signing: Buffer; accepted: Buffer[] }>(
    `select case when cursor_secret_since > now() then previous_cursor_secret else cursor_secret end as signing,
       array_remove(array[cursor_secret, previous_cursor_secret], null) as accepted
     from installation`,
  );
  return row ? [row.signing, ...row.accepted] : [];
}

/** Cursors of the secret before the previous one are refused from now on. False if some node may not know the last rotation. */
export async function rotateCursorSecret(sql: Sql): Promise<boolean> {
  const rotated = await sql.run(
    `update installation set previous_cursor_secret = cursor_secret, cursor_secret = $1, cursor_secret_since = now() + ${learnt}
     where cursor_secret_since is null or cursor_secret_since + ${learnt} < now()`,
    [randomBytes(32)],
  );
  return rotated > 0;
}

/** Cursors that were signed before the last rotation are refused from now on. False as in `rotateCursorSecret`. */
export async function forgetCursorSecret(sql: Sql): Promise<boolean> {
  const forgotten = await sql.run(
    `update installation set previous_cursor_secret = null
     where cursor_secret_since is null or cursor_secret_since + ${learnt} < now()`,
  );
  return forgotten > 0;
}
