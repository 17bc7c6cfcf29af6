import { chown, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts, spawnServer, unprivilegedUser } from '@earshot/engines';
import { eventually } from '@earshot/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startWorld, type World } from './src/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world?.[Symbol.asyncDispose]());

/** Debian's PgBouncer, in transaction mode, in front of a database; `settings` are further lines of its configuration. */
async function startPgBouncer(databaseUrl: string, settings: string) {
  const { hostname, port, username, password, pathname } = new URL(databaseUrl);
  const [listenPort = 0] = await freePorts(1);
  const dir = await mkdtemp(join(tmpdir(), 'earshot-pgbouncer-'));
  const name = pathname.slice(1);
  const login = `user=${username}${password && ` password=${decodeURIComponent(password)}`}`;
  const lines = [
    '[databases]',
    `${name} = host=${hostname} port=${port} dbname=${name} ${login}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${listenPort}`,
    'unix_socket_dir =',
    'auth_type = any',
    'pool_mode = transaction',
    settings,
  ];
  const config = join(dir, 'pgbouncer.ini');
  const logFile = join(dir, 'log');
  await writeFile(config, lines.join('\n'));
  const runAs = await unprivilegedUser();
  if (runAs) for (const path of [dir, config]) await chown(path, runAs.uid, runAs.gid);
  const command = { command: '/usr/sbin/pgbouncer', args: [config] };
  const server = await spawnServer({ ...command, logFile, lifetime: 'parent', runAs });
  await eventually(
    async () => {
      if (server.hasExited()) throw new Error(await readFile(logFile, 'utf8'));
      return await isOpen(listenPort);
    },
    { timeoutMs: 30_000 },
  );
  const url = new URL(databaseUrl);
  url.host = `127.0.0.1:${listenPort}`;
  return {
    url: url.href,
    async [Symbol.asyncDispose]() {
      await server.stop('SIGTERM');
      await rm(dir, { recursive: true });
    },
  };
}

function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}

test.for([
  ["refuses Earshot's settings", ''],
  [
    'ignores them',
    'ignore_startup_parameters = statement_timeout,idle_in_transaction_session_timeout,options',
  ],
] as const)(
  'a PgBouncer in transaction mode that %s is refused at the start, with a one-sentence message',
  async ([, settings]) => {
    await using pool = await startPgBouncer(world.databaseUrl, settings);
    const before = (await world.serverLog()).length;
    await expect(world.startServer({ EARSHOT_DATABASE_URL: pool.url })).rejects.toThrow('the server');
    const said = (await world.serverLog()).slice(before);
    expect(said).toContain('such as PgBouncer, is between Earshot and PostgreSQL');
  },
);
