import { defaultXToken } from '@earshot/sandbox';
import { eventually, migratedTemplate, startTestNats } from '@earshot/testkit';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { startNode } from '../src/compose/node.ts';
import { readConfig } from '../src/config/config.ts';
import type { Database } from '../src/engines/database.ts';
import { connectNats, type Nats } from '../src/engines/nats.ts';
import { createAppendWatch } from '../src/event-log/append-watch.ts';
import { claimEventLog } from '../src/event-log/bound-log.ts';
import { createEventLog } from '../src/event-log/event-log.ts';
import { eventsStream } from '../src/event-log/events-stream.ts';
import { addRule, open, soon, startIngest } from './ingest-support.ts';
import { openUpstreamWorld } from './upstream-world.ts';

/** The promise, also on a busy machine: Earshot itself waits for 3 s. */
const visibleWithin = { timeoutMs: 5_000 };
const never = new AbortController().signal;

async function openWorld() {
  await using stack = new AsyncDisposableStack();
  const server = stack.use(await startTestNats());
  const nats = stack.use(await connectNats(server.url, 'test'));
  const world = stack.use(await openUpstreamWorld(migratedTemplate()));
  await addRule(world, 'x');
  await claimEventLog(world.database, nats, { replicas: 1, bytesMax: 1024 ** 3 });
  await createEventLog(nats).probe('x', never);
  const all = stack.move();
  return { server, nats, world, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

/** Makes the log refuse further messages, as a full log does. */
async function refuse({ manager }: Nats): Promise<void> {
  const { state } = await manager.streams.info(eventsStream);
  await manager.streams.update(eventsStream, { max_msgs: state.messages });
}

const acceptAgain = ({ manager }: Nats) => manager.streams.update(eventsStream, { max_msgs: -1 });

async function stateOf(database: Database) {
  return await database.one<{ state: string; detail: string | null }>(
    `select state, state_detail as detail from sources where id = 'x:main'`,
  );
}

const refused = { state: 'log_unavailable', detail: expect.stringContaining('maximum messages exceeded') };

test('an open stream shows within 5 s that the log refuses events, and is not opened again before that ends', async () => {
  await using opened = await openWorld();
  const { nats, world } = opened;
  const watch = createAppendWatch();
  await using ingest = startIngest(world, 'x', createEventLog(nats, { watch }), { appendWatch: watch });
  const connects = async () => (await ingest.metrics.connects.get()).values[0]?.value;
  const streamLive = async () => (await ingest.metrics.streamLive.get()).values[0]?.value;
  await open(world, 'x');
  await refuse(nats);
  const { state: before } = await nats.manager.streams.info(eventsStream);
  await world.sandbox.posts(['rocket']);
  await eventually(async () => expect(await stateOf(world.database)).toEqual(refused), visibleWithin);
  expect(await world.sandbox.xStreams()).toBe(1);

  await world.sandbox.arm({ kind: 'stream_cut', platform: 'x' });
  await eventually(async () => expect(await streamLive()).toBe(0), soon);
  const ledger = () =>
    world.database.many<{ ended_because: string | null; gap_because: string | null; seconds: number }>(
      `select ended_because, gap_because, extract(epoch from from_at - gap_from)::float8 as seconds from coverage order by id`,
    );
  await eventually(
    async () => expect(await ledger()).toMatchObject([{ ended_because: 'log_unavailable' }]),
    soon,
  );
  expect(await stateOf(world.database)).toEqual(refused);
  expect(await connects()).toBe(1);

  await acceptAgain(nats);
  await open(world, 'x');
  await eventually(async () => expect(await stateOf(world.database)).toMatchObject({ state: 'live' }), soon);
  expect(await connects()).toBe(2);
  // Events that were read before are in the log, and behind them the probe.
  const { state: after } = await nats.manager.streams.info(eventsStream);
  expect(after.messages).toBe(before.messages + 2);
  const [, next] = await ledger();
  expect(next).toMatchObject({ ended_because: null, gap_because: 'log_unavailable' });
  // The post had waited for some 3 s.
  expect(next?.seconds).toBeGreaterThan(2.5);
});

test('a node that starts while the log refuses events reports so everywhere, and opens no stream until the log accepts them', async () => {
  await using opened = await openWorld();
  const { server, nats, world } = opened;
  await refuse(nats);
  const lines: { level: number; msg: string; reason?: string }[] = [];
  await using node = await startNode({
    config: readConfig({
      EARSHOT_DATABASE_URL: world.databaseUrl,
      EARSHOT_NATS_URL: server.url,
      EARSHOT_ROLES: 'ingest,match',
      EARSHOT_METRICS_PORT: '0',
      EARSHOT_X_TOKENS: `main=${defaultXToken}`,
      EARSHOT_X_BASE_URL: world.sandboxUrl,
      EARSHOT_TEST: 'xRuleDelayMs=0',
    }),
    log: pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) }),
    checkpoint: () => undefined,
  });
  const ask = async (path: string) =>
    await (await fetch(`http://127.0.0.1:${node.metricsPort}${path}`)).text();
  const blockedSeconds = async () =>
    Number(/^earshot_event_log_append_blocked_seconds (\S+)$/m.exec(await ask('/metrics'))?.[1]);
  const logLines = () => lines.filter(({ msg }) => msg.startsWith('the event log'));
  expect(await blockedSeconds()).toBe(0);
  await eventually(async () => expect(await stateOf(world.database)).toEqual(refused), soon);
  expect(JSON.parse(await ask('/readyz'))).toEqual({ status: 'not ready: the event log takes no events' });
  expect(await blockedSeconds()).toBeGreaterThan(2.5);
  expect(logLines()).toMatchObject([
    { level: 40, reason: expect.stringContaining('maximum messages exceeded') },
  ]);
  expect(await ask('/metrics')).not.toContain('earshot_connects_total{');

  await acceptAgain(nats);
  await open(world, 'x');
  await eventually(async () => expect(await stateOf(world.database)).toMatchObject({ state: 'live' }), soon);
  expect(JSON.parse(await ask('/readyz'))).toEqual({ status: 'ready' });
  expect(await blockedSeconds()).toBe(0);
  expect(logLines()).toMatchObject([{ level: 40 }, { level: 30, msg: 'the event log accepts events again' }]);
  // Matching settles both probes without matches, so the check finds no gap.
  await eventually(
    async () => expect(await ask('/metrics')).toMatch(/^earshot_event_log_checked_through 2$/m),
    soon,
  );
  expect(await ask('/metrics')).toMatch(/^earshot_event_log_gaps_total\{fate="found"\} 0$/m);
  const left = await world.database.one<{ billed: number; letters: number }>(
    `select (select count(*)::int from billed) as billed, (select count(*)::int from dead_letters) as letters`,
  );
  expect(left).toEqual({ billed: 0, letters: 0 });
});
