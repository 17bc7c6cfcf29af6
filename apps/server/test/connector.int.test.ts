import { eventually, type Template } from '@earshot/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LeaseLost } from '../src/engines/leases.ts';
import { createSourceStore } from '../src/ingest/source-store.sql.ts';
import type { EndingKind } from '../src/upstream/upstream-stream.ts';
import { xProtocol } from '../src/upstream/x/platform.ts';
import { createEndStaleConnections, createXStream } from '../src/upstream/x/stream.ts';
import { addRule, coverage, createMemoryLog, open, soon, startIngest } from './ingest-support.ts';
import { createMigratedTemplate } from './support.ts';
import { openUpstreamWorld, type UpstreamWorld } from './upstream-world.ts';

let template: Template;
beforeAll(async () => {
  template = await createMigratedTemplate();
});
afterAll(() => template?.[Symbol.asyncDispose]());

interface Shown {
  readonly state: string;
  readonly state_detail: string | null;
  readonly wait_s: number | null;
}

const shown = async ({ database }: UpstreamWorld, sourceId: string): Promise<Shown | null> =>
  await database.one<Shown>(
    `select state, state_detail, extract(epoch from next_attempt_at - now())::float8 as wait_s
     from sources where id = $1`,
    [sourceId],
  );

async function stateMetric(ingest: ReturnType<typeof startIngest>): Promise<string[]> {
  return (await ingest.metrics.sourceState.get()).values.map(({ labels }) => String(labels.state));
}

/** A protocol whose waits for a busy connection, and whose budget, fit into a test. */
const hasty = {
  ...xProtocol,
  waits: { ...xProtocol.waits, connection: { grows: 'not', firstMs: 200, maxMs: 200 } },
} as const;

describe('messages of X inside the stream', () => {
  test.each<[disconnectType: string, kind: EndingKind, state: string]>([
    ['OperationalDisconnect', 'dropped', 'live'],
    ['ForceDisconnect', 'displaced', 'reconnecting'],
  ])('%s ends the stream as %s, and then the source is %s', async (disconnect_type, kind, state) => {
    await using world = await openUpstreamWorld(template);
    await addRule(world, 'x');
    await using ingest = startIngest(world, 'x', createMemoryLog());
    await open(world, 'x');
    // The socket stays open: we must close it.
    await world.sandbox.arm({ kind: 'stream_control', platform: 'x', disconnect_type, hang: true });
    expect(await world.sandbox.fired()).toEqual([1]);
    await eventually(async () => expect(await ingest.endings()).toEqual([kind]), soon);
    await eventually(async () => expect((await shown(world, 'x:main'))?.state).toBe(state), soon);
    expect((await coverage(world))[0]).toEqual({ ended_because: kind });
  });
});

describe('the state of a source shows', () => {
  test("on X without credit: X's message and the next attempt", async () => {
    await using world = await openUpstreamWorld(template);
    await addRule(world, 'x');
    const body = JSON.stringify({ plan: 'out_of_credit' });
    await fetch(`${world.sandboxUrl}/sandbox/x/plan`, { method: 'POST', body });
    await using ingest = startIngest(world, 'x', createMemoryLog());
    await eventually(async () => expect((await shown(world, 'x:main'))?.state).toBe('no_credit'), soon);
    const row = await shown(world, 'x:main');
    expect(row?.state_detail).toContain('X answered');
    expect(row?.wait_s).toBeGreaterThan(870);
    expect(row?.wait_s).toBeLessThanOrEqual(900);
    expect(await stateMetric(ingest)).toEqual(['no_credit']);
  });

  test('in the gap, the reason that keeps it open, not only the one that began it', async () => {
    await using world = await openUpstreamWorld(template);
    await addRule(world, 'x');
    await using ingest = startIngest(world, 'x', createMemoryLog());
    await open(world, 'x');
    await world.sandbox.arm({ kind: 'stream_status', platform: 'x', status: 402 });
    await world.sandbox.arm({ kind: 'stream_cut', platform: 'x' });
    await eventually(
      async () => expect(await coverage(world)).toEqual([{ ended_because: 'no_credit' }]),
      soon,
    );
    expect(await ingest.endings()).toEqual(['dropped', 'no_credit']);
    expect(await world.sandbox.fired()).toEqual([1, 1]);
  });

  test('live while a stream is open, and stopped after a shutdown', async () => {
    await using world = await openUpstreamWorld(template);
    await addRule(world, 'firehose');
    {
      await using ingest = startIngest(world, 'firehose', createMemoryLog());
      await eventually(async () => expect((await shown(world, 'firehose:main'))?.state).toBe('live'), soon);
      expect(await shown(world, 'firehose:main')).toMatchObject({ state_detail: null, wait_s: null });
      expect(await stateMetric(ingest)).toEqual(['live']);
    }
    expect((await shown(world, 'firehose:main'))?.state).toBe('stopped');
  });
});

describe('the gauges of a source show nothing on a node that no longer has it', () => {
  const gauges = async ({ metrics }: ReturnType<typeof startIngest>) => ({
    states: (await metrics.sourceState.get()).values.map(({ labels }) => labels.state),
    live: (await metrics.streamLive.get()).values.map(({ value }) => value),
    quiet: (await metrics.sourceQuiet.get()).values,
  });
  const nothing = { states: [], live: [], quiet: [] };

  test('if another node has taken the lease', async () => {
    await using world = await openUpstreamWorld(template);
    await addRule(world, 'x');
    await using ingest = startIngest(world, 'x', createMemoryLog(), { leaseTtlMs: 300 });
    await eventually(
      async () => expect(await gauges(ingest)).toEqual({ states: ['live'], live: [1], quiet: [] }),
      soon,
    );
    ingest.metrics.sourceQuiet.set({ source: 'x:main' }, 1);
    await world.database.run(
      `update leases set holder = 'node-2', epoch = epoch + 1, expires_at = now() + interval '1 hour'`,
    );
    await eventually(async () => expect(await gauges(ingest)).toEqual(nothing), soon);
  });

  test('if the worker failed and is started again', async () => {
    await using world = await openUpstreamWorld(template);
    await addRule(world, 'x');
    const sources = createSourceStore(world.database);
    let attempts = 0;
    const ingest = startIngest(world, 'x', createMemoryLog(), {
      sources: {
        ...sources,
        async recordConnect(...given) {
          if (++attempts === 2) throw new Error('the database is down');
          return await sources.recordConnect(...given);
        },
      },
    });
    await open(world, 'x');
    await world.sandbox.arm({ kind: 'stream_status', platform: 'x', status: 503 });
    await world.sandbox.arm({ kind: 'stream_cut', platform: 'x' });
    await eventually(() => expect(attempts).toBe(2), soon);
    await expect(ingest[Symbol.asyncDispose]()).rejects.toThrow('the database is down');
    expect(await gauges(ingest)).toEqual(nothing);
  });
});

describe('a connection of a crashed process that X still counts', () => {
  async function leaveStaleConnection(world: UpstreamWorld): Promise<void> {
    await addRule(world, 'x');
    await world.sandbox.arm({ kind: 'stuck_connection', platform: 'x' });
    {
      await using _first = startIngest(world, 'x', createMemoryLog());
      await open(world, 'x');
    }
    await eventually(async () => expect(await world.sandbox.fired()).toEqual([1]), soon);
  }

  test('is closed if the connection stays in use, and the stream opens', async () => {
    await using world = await openUpstreamWorld(template);
    await leaveStaleConnection(world);
    const log = createMemoryLog();
    const endStaleConnections = createEndStaleConnections(world.client('x'));
    await using ingest = startIngest(world, 'x', log, { protocol: hasty, endStaleConnections });
    await eventually(async () => {
      await world.sandbox.posts(['rocket']);
      expect(log.entries).not.toEqual([]);
    }, soon);
    expect(await ingest.endings()).toEqual(['connection_in_use']);
  });

  test('control: without the Connections API the connection stays in use', async () => {
    await using world = await openUpstreamWorld(template);
    await leaveStaleConnection(world);
    await using ingest = startIngest(world, 'x', createMemoryLog(), {
      protocol: hasty,
      endStaleConnections: null,
    });
    await eventually(async () => {
      const [busy] = (await ingest.metrics.streamEndings.get()).values;
      expect(busy?.value).toBeGreaterThan(5);
    }, soon);
    expect((await shown(world, 'x:main'))?.state).toBe('connection_in_use');
  });

  test("is not closed by a worker that lost its lease: it may be the new holder's", async () => {
    await using world = await openUpstreamWorld(template);
    await leaveStaleConnection(world);
    let frees = 0;
    let assertions = 0;
    const sources = createSourceStore(world.database);
    await using _ingest = startIngest(world, 'x', createMemoryLog(), {
      protocol: hasty,
      endStaleConnections: async () => ++frees,
      sources: {
        ...sources,
        async assertHeld(lease) {
          // Another node took over between our last renewal and now.
          await world.database.run('update leases set epoch = epoch + 1 where name = $1', [lease.name]);
          await sources.assertHeld(lease).catch((error: unknown) => {
            expect(error).toBeInstanceOf(LeaseLost);
            assertions++;
            throw error;
          });
        },
      },
    });
    await eventually(() => expect(assertions).toBeGreaterThan(0), soon);
    expect(frees).toBe(0);
  });
});

describe('many cuts in a row', () => {
  const windowMs = 60_000;
  const withBudget = (calls: number) => ({
    ...xProtocol,
    waits: { ...xProtocol.waits, network: { grows: 'not', firstMs: 1, maxMs: 1 } } as const,
    connects: { bucket: 'connect', calls, windowMs },
  });

  /** Cuts each stream that opens, with a restart in the middle. Returns the most attempts in any window. */
  async function mostConnects(calls: number, isOver: (attempts: number, ms: number) => boolean) {
    await using world = await openUpstreamWorld(template);
    await addRule(world, 'x');
    const attempts: number[] = [];
    const upstream = createXStream(world.client('x'));
    const counted: typeof upstream = {
      open(from, signal) {
        attempts.push(performance.now());
        return upstream.open(from, signal);
      },
    };
    const storm = async () => {
      await using _ingest = startIngest(world, 'x', createMemoryLog(), {
        protocol: withBudget(calls),
        upstream: counted,
      });
      const before = { attempts: attempts.length, at: performance.now() };
      while (!isOver(attempts.length - before.attempts, performance.now() - before.at))
        await world.sandbox.arm({ kind: 'stream_cut', platform: 'x' });
    };
    await storm();
    await storm();
    expect((await world.sandbox.fired()).reduce((sum, one) => sum + one, 0)).toBeGreaterThan(3);
    return attempts.reduce(
      (most, at) => Math.max(most, attempts.filter((one) => one > at - windowMs && one <= at).length),
      0,
    );
  }

  test.concurrent('do not exceed the planned number of connections, also across a restart', async () => {
    expect(await mostConnects(8, (_attempts, ms) => ms > 2_500)).toBeLessThanOrEqual(8);
  });

  test.concurrent('show why the source waits, also after a restart', async () => {
    await using world = await openUpstreamWorld(template);
    await addRule(world, 'x');
    const options = { protocol: withBudget(1) };
    {
      await using _ingest = startIngest(world, 'x', createMemoryLog(), options);
      await open(world, 'x');
    }
    expect(await shown(world, 'x:main')).toMatchObject({ state: 'stopped' });
    await using next = startIngest(world, 'x', createMemoryLog(), options);
    await eventually(async () => expect(await stateMetric(next)).toEqual(['rate_limited']), soon);
    const waiting = {
      state: 'rate_limited',
      state_detail: 'the connection attempts that the platform allows are used up',
    };
    await eventually(async () => expect(await shown(world, 'x:main')).toMatchObject(waiting), soon);
    expect((await shown(world, 'x:main'))?.wait_s).toBeGreaterThan(10);
  });

  test.concurrent('control: exceed it without the budget', async () => {
    expect(await mostConnects(1_000_000, (attempts) => attempts > 8)).toBeGreaterThan(16);
  });
});
