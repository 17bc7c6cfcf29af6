import { errorSchema } from '@earshot/contract';
import { eventually, migratedTemplate, startTcpProxy, startTestNats } from '@earshot/testkit';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { newKey } from '../src/accounts/keys.ts';
import { startNode } from '../src/compose/node.ts';
import { readConfig } from '../src/config/config.ts';

const soon = { timeoutMs: 60_000 };

interface Line {
  readonly level: number;
  readonly msg: string;
  readonly worker?: string;
}

/** A node with all workers that need no upstream, and proxies in front of PostgreSQL and NATS. */
async function startWatchedNode() {
  await using stack = new AsyncDisposableStack();
  const server = stack.use(await startTestNats());
  const clone = stack.use(await migratedTemplate().clone());
  const proxyOf = async (address: URL) => {
    const target = { host: address.hostname, port: Number(address.port) };
    const proxy = stack.use(await startTcpProxy({ target }));
    address.host = proxy.address;
    return proxy;
  };
  const [database, nats] = [new URL(clone.url), new URL(server.url)];
  const postgresProxy = await proxyOf(database);
  const natsProxy = await proxyOf(nats);
  const lines: Line[] = [];
  const log = pino({ base: null }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const config = readConfig({
    EARSHOT_DATABASE_URL: database.href,
    EARSHOT_NATS_URL: nats.href.replace(/\/$/, ''),
    EARSHOT_ROLES: 'api,match,deliver',
    EARSHOT_SECRETS_KEY: Buffer.alloc(32).toString('base64'),
    EARSHOT_PORT: '0',
    EARSHOT_METRICS_PORT: '0',
  });
  const node = stack.use(await startNode({ config, log, checkpoint: () => undefined }));
  const running = stack.move();
  return {
    postgresProxy,
    natsProxy,
    ask: (path: string, headers = {}) => fetch(new URL(path, node.address ?? ''), { headers }),
    /** Warnings and errors; 40 is pino's `warn`. */
    trouble: () => lines.filter(({ level }) => level >= 40).map(({ msg }) => msg),
    messages: () => lines.map(({ msg }) => msg),
    async metrics(pattern: RegExp) {
      const answer = await fetch(`http://127.0.0.1:${node.metricsPort}/metrics`);
      return (await answer.text()).match(pattern) ?? [];
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

const natsDisconnects = /^earshot_nats_disconnects_total \d+$/gm;
const workerFailures = /^earshot_worker_failures_total\{.*$/gm;

test.each([
  {
    server: 'PostgreSQL',
    proxy: 'postgresProxy',
    lost: 'the connection to PostgreSQL is lost; retrying',
    back: 'connected to PostgreSQL again',
    gauge: /^earshot_database_connected \d$/gm,
    name: 'earshot_database_connected',
  },
  {
    server: 'NATS',
    proxy: 'natsProxy',
    lost: 'the connection to NATS is lost; retrying',
    back: 'connected to NATS again',
    gauge: /^earshot_nats_connected \d$/gm,
    name: 'earshot_nats_connected',
  },
] as const)(
  'an outage of $server is one log line and a gauge, and no worker fails',
  async ({ proxy, lost, back, gauge, name }) => {
    await using node = await startWatchedNode();
    expect(await node.metrics(gauge)).toEqual([`${name} 1`]);
    const before = node.trouble().length;

    node[proxy].refuse(true);
    node[proxy].cut();
    await eventually(async () => expect(await node.metrics(gauge)).toEqual([`${name} 0`]), soon);
    // Every worker has failed a request by then; NATS is tried four times a second, and calls to it end after 5 s.
    await eventually(() => expect(node[proxy].fired.refused).toBeGreaterThan(30), soon);
    expect(await node.metrics(gauge)).toEqual([`${name} 0`]);
    expect((await node.ask('/healthz')).status).toBe(200);
    const refusals = [await node.ask('/readyz')];
    if (proxy === 'postgresProxy')
      refusals.push(await node.ask('/api.ListRules', { authorization: `Bearer ${newKey().key}` }));
    for (const refused of refusals) {
      expect([refused.status, errorSchema.parse(await refused.json()).code]).toEqual([503, 'unavailable']);
      expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
    }

    node[proxy].refuse(false);
    await eventually(async () => expect(await node.metrics(gauge)).toEqual([`${name} 1`]), soon);
    expect(node.messages()).toContain(back);
    expect(node.trouble().slice(before)).toEqual([lost]);
    expect(await node.metrics(workerFailures)).toEqual([]);
    const disconnects = proxy === 'natsProxy' ? 1 : 0;
    expect(await node.metrics(natsDisconnects)).toEqual([`earshot_nats_disconnects_total ${disconnects}`]);
  },
);
