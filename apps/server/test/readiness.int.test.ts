import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  eventually,
  migratedTemplate,
  startTcpProxy,
  startTestNats,
  startTestPostgres,
} from '@earshot/testkit';
import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import { openAdmin } from '../src/admin.ts';
import { startNode } from '../src/compose/node.ts';
import { createReadiness } from '../src/compose/readiness.ts';
import { readConfig } from '../src/config/config.ts';
import { migrate } from '../src/engines/migrate.ts';
import { connectNats } from '../src/engines/nats.ts';
import { createAppendWatch } from '../src/event-log/append-watch.ts';
import { eventsStream } from '../src/event-log/events-stream.ts';
import { ensurePartitions } from '../src/matching/partitions.ts';
import { makeEventsStream, openTestDatabase } from './support.ts';

const soon = { timeoutMs: 60_000 };

async function openEngines(databaseUrl: string, natsUrl: string) {
  await using stack = new AsyncDisposableStack();
  const database = stack.use(openTestDatabase(databaseUrl));
  const nats = stack.use(await connectNats(natsUrl, 'test'));
  await makeEventsStream(nats, { replicas: 1, bytesMax: 1024 ** 3 });
  let clockMs = 0;
  const nowMs = () => clockMs;
  const isReadyNow = await createReadiness({ database, nats, appendWatch: createAppendWatch(), nowMs });
  /** One second after the previous call. */
  const isReady = () => {
    clockMs += 1_000;
    return isReadyNow();
  };
  const all = stack.move();
  return { database, nats, isReady, isReadyNow, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

describe('a node is ready only if PostgreSQL and NATS have all that it needs', () => {
  test('not with a read-only database, a missing migration or partition of today, or a log without its stream', async () => {
    await using server = await startTestNats();
    await using clone = await migratedTemplate().clone();
    await using engines = await openEngines(clone.url, server.url);
    const { database, nats, isReady, isReadyNow } = engines;
    expect(await isReady()).toEqual([]);

    await nats.manager.streams.delete(eventsStream);
    // Both are queried at most once a second.
    expect(await isReadyNow()).toEqual([]);
    expect(await isReady()).toEqual(['nats lacks the stream EVENTS']);
    await makeEventsStream(nats, { replicas: 1, bytesMax: 1024 ** 3 });

    const [newest] = await database.many<{ name: string }>('select name from migrations order by name desc');
    await database.run('update migrations set name = $2 where name = $1', [newest?.name, 'away']);
    expect(await isReady()).toEqual([`postgresql lacks ${newest?.name}: run earshot admin migrate`]);
    await database.run('update migrations set name = $1 where name = $2', [newest?.name, 'away']);

    const { today = '' } =
      (await database.one<{ today: string }>(
        `select 'matches_' || to_char(now() at time zone 'UTC', 'YYYYMMDD') as today`,
      )) ?? {};
    await database.run(`alter table ${today} rename to ${today}_away`);
    expect(await isReady()).toEqual(['postgresql lacks a partition for today']);
    await database.run(`alter table ${today}_away rename to ${today}`);

    // As on a standby; its connections detect this when they are opened.
    await database.run(`do $$ begin
      execute format('alter database %I set default_transaction_read_only = on', current_database()); end $$`);
    await using standby = await openEngines(clone.url, server.url);
    expect(await standby.isReady()).toEqual(['postgresql is a read-only standby']);
    await expect(standby.database.run(`delete from leases`)).rejects.toMatchObject({ code: 'unavailable' });
    expect(await isReady()).toEqual([]);
  });

  test('not with a database that was restored without the role of accounts', async () => {
    await using server = await startTestNats();
    await using postgres = await startTestPostgres();
    await migrate(postgres.url);
    await using engines = await openEngines(postgres.url, server.url);
    await ensurePartitions(engines.database);
    expect(await engines.isReady()).toEqual([]);
    await engines.database.run('drop owned by earshot_account');
    await engines.database.run('alter role earshot_account rename to away');
    expect(await engines.isReady()).toEqual([
      'postgresql lacks the role earshot_account: see deploy/postgres-roles.sql',
    ]);
  });
});

/** No server listens there now. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

test('a node that cannot reach PostgreSQL and NATS reports this on its health port, and starts when they are up', async () => {
  await using server = await startTestNats();
  await using clone = await migratedTemplate().clone();
  const database = new URL(clone.url);
  const target = { host: database.hostname, port: Number(database.port) };
  await using postgres = await startTcpProxy({ target });
  database.host = postgres.address;
  const nats = new URL(server.url);
  await using natsProxy = await startTcpProxy({ target: { host: nats.hostname, port: Number(nats.port) } });
  // As a copy of another installation's database has it, or one whose log was lost.
  await using bound = openTestDatabase(clone.url, 1);
  await bound.run(`update event_log set created_at = 'somewhere else'`);
  postgres.refuse(true);
  natsProxy.refuse(true);
  const port = await freePort();
  const config = readConfig({
    EARSHOT_DATABASE_URL: database.href,
    EARSHOT_NATS_URL: `nats://${natsProxy.address}`,
    EARSHOT_ROLES: 'match',
    EARSHOT_METRICS_PORT: String(port),
  });
  const ask = async (path: string) => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`);
    return await answer.json();
  };
  const { log, said } = collectedLog();
  const starting = startNode({ config, log, checkpoint: () => undefined });
  const waitsFor = (engine: string) =>
    eventually(
      async () => expect(await ask('/readyz')).toEqual({ status: `not ready: waiting for ${engine}` }),
      soon,
    );
  await waitsFor('PostgreSQL');
  await eventually(() => expect(said()).toContain('PostgreSQL does not answer; still trying'), soon);
  expect(await ask('/healthz')).toEqual({ status: 'ok' });
  postgres.refuse(false);
  await waitsFor('NATS');
  await eventually(() => expect(said()).toContain('NATS does not answer; still trying'), soon);
  natsProxy.refuse(false);
  await waitsFor('its event log');
  await using admin = await openAdmin(clone.url);
  await admin.afterRestore({ logLost: true, isCopy: false });
  await using node = await starting;
  expect(await ask('/readyz')).toEqual({ status: 'ready' });
  // Its log lines have the name under which it holds leases.
  const holders = await eventually(async () => {
    const rows = await bound.many<{ holder: string }>('select distinct holder from leases');
    expect(rows).toHaveLength(1);
    return rows;
  }, soon);
  const names = said()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).node);
  expect(new Set(names)).toEqual(new Set([holders[0]?.holder]));
  // A node without the role `api` shows balancers and orchestrators only its metrics port.
  node.drain();
  expect(await ask('/readyz')).toEqual({ status: 'not ready: shutting down' });
  expect(await ask('/healthz')).toEqual({ status: 'ok' });
});

/** A log, and what was written to it. */
function collectedLog() {
  const lines: string[] = [];
  const log = pino({ level: 'info', base: null }, { write: (line: string) => void lines.push(line) });
  return { log, said: () => lines.join('') };
}
