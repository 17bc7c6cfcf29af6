import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { skipUnless } from '../../testkit/src/vitest-skips.ts';
import type { Postgres } from '../src/postgres.ts';
import { startPostgres } from '../src/postgres.ts';
import { findPostgresBinaries } from '../src/postgres-binaries.ts';

let dir: string;
let psql: string;
let postgres: Postgres;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'earshot-engines-'));
  psql = join(await findPostgresBinaries(), 'psql');
  postgres = await startPostgres({ dir });
});
afterAll(async () => {
  await postgres.stop();
  await rm(dir, { recursive: true, force: true });
});

async function query(sql: string): Promise<string> {
  const { stdout } = await promisify(execFile)(psql, [postgres.urls.superuser, '-qAtc', sql]);
  return stdout.trim();
}

test.for([
  ['fsync', 'on'],
  ['full_page_writes', 'on'],
  ['synchronous_commit', 'on'],
  ['data_checksums', 'on'],
  ['server_encoding', 'UTF8'],
  ['listen_addresses', '127.0.0.1'],
] as const)('%s is %s', async ([name, value]) => {
  expect(await query(`SHOW ${name}`)).toBe(value);
});

test('refuses logins without a password, and only the owner can read the passwords', async () => {
  const env = { PATH: process.env['PATH'] };
  for (const user of ['postgres', 'earshot_owner', 'earshot_runtime', 'earshot_account', 'earshot']) {
    const url = `postgres://${user}@127.0.0.1:${postgres.port}/earshot`;
    const login = promisify(execFile)(psql, ['-wqAtc', 'SELECT 1', url], { env });
    await expect(login).rejects.toThrow(/no password supplied|password authentication failed/);
  }
  const { mode } = await stat(join(dirname(postgres.dataDir), 'passwords.json'));
  expect((mode & 0o777).toString(8)).toBe('600');
});

test('the login of the server is no superuser, and does not own the database', async () => {
  const { stdout } = await promisify(execFile)(psql, [
    postgres.urls.runtime,
    '-qAtc',
    'SELECT rolname, rolsuper, datdba = pg_roles.oid FROM pg_roles, pg_database WHERE rolname = current_user AND datname = current_database()',
  ]);
  expect(stdout.trim()).toBe('earshot_runtime|f|f');
});

test('letters of every script have a lower case', async () => {
  expect(await query("SELECT lower('ÄÉЖ')")).toBe('äéж');
});

test('a committed row is there after SIGKILL and a second start on the same folder', async () => {
  await query('CREATE TABLE kept (id int); INSERT INTO kept VALUES (42)');
  const { pid } = postgres;
  await postgres.kill();
  await expect(query('SELECT 1')).rejects.toThrow('refused');
  postgres = await startPostgres({ dir, port: postgres.port });
  expect(postgres.pid).not.toBe(pid);
  expect(await query('SELECT id FROM kept')).toBe('42');
});

test('a second server on a folder in use is refused and the first one stays', async () => {
  await expect(startPostgres({ dir })).rejects.toThrow(`as process ${postgres.pid}`);
  expect(await query('SELECT 1')).toBe('1');
});

test('a crash-left pid file that now names another process of that user does not prevent the start', async () => {
  await using other = await startOther();
  await postgres.kill();
  const pidFile = join(postgres.dataDir, 'postmaster.pid');
  const [, ...rest] = (await readFile(pidFile, 'utf8')).split('\n');
  await writeFile(pidFile, [other.pid, ...rest].join('\n'));
  postgres = await startPostgres({ dir });
  expect(await query('SELECT 1')).toBe('1');
});

test(
  'as root, a folder that the unprivileged user cannot enter still gives a server, with its data elsewhere',
  skipUnless('root', process.getuid?.() === 0 ? null : 'another user runs this'),
  async () => {
    const home = await mkdtemp(join(tmpdir(), 'earshot-private-home-'));
    await using hidden = await startPostgres({ dir: join(home, 'checkout/postgres') });
    expect(hidden.dataDir.startsWith(home)).toBe(false);
    await hidden.stop();
    await using again = await startPostgres({ dir: join(home, 'checkout/postgres') });
    expect(again.dataDir).toBe(hidden.dataDir);
    await again.stop();
    await rm(dirname(hidden.dataDir), { recursive: true });
    await rm(home, { recursive: true });
  },
);

/** Another PostgreSQL, for a living process of the same user. */
async function startOther(): Promise<AsyncDisposable & { pid: number }> {
  const otherDir = await mkdtemp(join(tmpdir(), 'earshot-engines-'));
  const other = await startPostgres({ dir: otherDir });
  return {
    pid: other.pid,
    async [Symbol.asyncDispose]() {
      await other.stop();
      await rm(otherDir, { recursive: true, force: true });
    },
  };
}
