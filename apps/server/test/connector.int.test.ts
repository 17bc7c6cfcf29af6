import { eventually, type Template } from '@earshot/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createConnectorStore } from '../src/adapters/postgres/connector-store.ts';
import { createFreeSlot } from '../src/adapters/x/connections.ts';
import { createXStream } from '../src/adapters/x/stream.ts';
import type { EventLog } from '../src/ingest/event-log.ts';
import type { EndingKind } from '../src/ingest/stream-ending.ts';
import { xProtocol } from '../src/ingest/x-protocol.ts';
import { LeaseLost } from '../src/runtime/lease.ts';
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

/** A protocol whose waits on a busy slot, and whose budget, fit into a test. */
const hasty = {
  ...xProtocol,
  waits: { ...xProtocol.waits, slot: { grows: 'not', firstMs: 200, maxMs: 200 } },
} as const;

describe('what X says inside the stream', () => {
  test.each<[disconnectType: string, kind: EndingKind, state: string]>([
    ['OperationalDisconnect', 'dropped', 'live'],
    ['UpstreamUncleanDisconnect', 'dropped', 'live'],
    ['SlowReader', 'slow_reader', 'live'],
    ['ForceDisconnect', 'displaced', 'reconnecting'],
    ['InvalidRules', 'rules_invalid', 'rules_invalid'],
    ['ClientApplicationStateDegraded', 'degraded', 'degraded'],
    ['Surprise', 'failing', 'failing'],
  ])('%s ends it as %s, and then the source is %s', async (disconnect_type, kind, state) => {
    await using world = await openUpstreamWorld(template);
    await addRule(world, 'x');
    await using ingest = startIngest(world, 'x', createMemoryLog());
    await open(world, 'x');
    // The socket stays open: it is we who must close it.
    await world.sandbox.arm({ kind: 'stream_control', platform: 'x', disconnect_type, hang: true });
    expect(await world.sandbox.fired()).toEqual([1]);
    await eventually(async () => expect(await ingest.endings()).toEqual([kind]), soon);
    await eventually(async () => expect((await shown(world, 'x:main'))?.state).toBe(state), soon);
    expect((await coverage(world))[0]).toEqual({ ended_because: kind });
  });
});

describe('what keeps a source from listening is shown to people', () => {
  test.each([
    ['out_of_credit', 'no_credit', 900],
    ['spend_cap', 'spend_cap', 900],
    ['usage_cap', 'usage_cap', 900],
    ['free', 'credentials', 300],
  ])('on X with the plan %s: %s, with the next attempt', async (plan, state, waitS) => {
    await using world = await openUpstreamWorld(template, {
      xApps: [{ token: 'sandbox-x-token' }],
    });
    await addRule(world, 'x');
    await fetch(`${world.sandboxUrl}/sandbox/x/plan`, { method: 'POST', body: JSON.stringify({ plan }) });
    await using ingest = startIngest(world, 'x', createMemoryLog());
    await eventually(async () => expect((await shown(world, 'x:main'))?.state).toBe(state), soon);
    const row = await shown(world, 'x:main');
    expect(row?.state_detail).toContain('X answered');
    expect(row?.wait_s).toBeGreaterThan(waitS - 30);
    expect(row?.wait_s).toBeLessThanOrEqual(waitS);
    expect(await stateMetric(ingest)).toEqual([state]);
  });

  test('and the gap says what keeps it open, not only what began it', async () => {
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

  test('an open stream is live, and a stopped one stopped', async () => {
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

describe('a connection of a dead process that X still counts', () => {
  async function strand(world: UpstreamWorld): Promise<void> {
    await addRule(world, 'x');
    await world.sandbox.arm({ kind: 'stuck_slot', platform: 'x' });
    {
      await using _first = startIngest(world, 'x', createMemoryLog());
      await open(world, 'x');
    }
    await eventually(async () => expect(await world.sandbox.fired()).toEqual([1]), soon);
  }

  test('is ended when the slot stays busy, and the stream opens', async () => {
    await using world = await openUpstreamWorld(template);
    await strand(world);
    const log = createMemoryLog();
    const freeSlot = createFreeSlot(world.client('x'));
    await using ingest = startIngest(world, 'x', log, { protocol: hasty, freeSlot });
    await eventually(async () => {
      await world.sandbox.posts(['rocket']);
      expect(log.entries).not.toEqual([]);
    }, soon);
    expect(await ingest.endings()).toEqual(['slot_busy']);
    expect((await ingest.metrics.slotsFreed.get()).values).toMatchObject([{ value: 1 }]);
  });

  test('control: without the Connections API the slot stays busy', async () => {
    await using world = await openUpstreamWorld(template);
    await strand(world);
    await using ingest = startIngest(world, 'x', createMemoryLog(), { protocol: hasty, freeSlot: null });
    await eventually(async () => {
      const [busy] = (await ingest.metrics.streamEndings.get()).values;
      expect(busy?.value).toBeGreaterThan(5);
    }, soon);
    expect((await shown(world, 'x:main'))?.state).toBe('slot_busy');
  });

  test('is left alone by a worker that lost its lease: the stream may be the new holder’s', async () => {
    await using world = await openUpstreamWorld(template);
    await strand(world);
    let frees = 0;
    let assertions = 0;
    const connectors = createConnectorStore(world.database);
    await using _ingest = startIngest(world, 'x', createMemoryLog(), {
      protocol: hasty,
      freeSlot: async () => ++frees,
      connectors: {
        ...connectors,
        async assertHeld(lease) {
          // Somebody took over between our last renewal and now.
          await world.database.run('update leases set epoch = epoch + 1 where name = $1', [lease.name]);
          await connectors.assertHeld(lease).catch((error: unknown) => {
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

describe('a storm of cuts', () => {
  const windowMs = 60_000;
  const withBudget = (calls: number) => ({
    ...xProtocol,
    waits: { ...xProtocol.waits, network: { grows: 'not', firstMs: 1, maxMs: 1 } } as const,
    connects: { bucket: 'connect', calls, windowMs },
  });

  /** Cuts whatever opens, with a restart in the middle; the most attempts in any window. */
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

  test.concurrent('does not make us connect more often than planned, also over a restart', async () => {
    expect(await mostConnects(8, (_attempts, ms) => ms > 2_500)).toBeLessThanOrEqual(8);
  });

  test.concurrent('control: without the budget it does', async () => {
    expect(await mostConnects(1_000_000, (attempts) => attempts > 8)).toBeGreaterThan(16);
  });
});

describe('a stream that stays up and brings nothing', () => {
  test.concurrent('not even keep-alives, is found within 30 s', async () => {
    await using world = await openUpstreamWorld(template);
    await addRule(world, 'x');
    await using ingest = startIngest(world, 'x', createMemoryLog());
    await open(world, 'x');
    await world.sandbox.arm({ kind: 'stream_stall', platform: 'x' });
    const stalledAt = performance.now();
    await eventually(async () => expect(await ingest.endings()).toEqual(['stalled']), { timeoutMs: 60_000 });
    expect(performance.now() - stalledAt).toBeLessThan(30_000);
    expect(await world.sandbox.fired()).toEqual([1]);
  });

  test.concurrent('control: without the watchdog nobody notices', async () => {
    await using world = await openUpstreamWorld(template);
    await addRule(world, 'x');
    const upstream = createXStream(world.client('x'), { silenceMaxMs: 0 });
    await using ingest = startIngest(world, 'x', createMemoryLog(), { upstream });
    await open(world, 'x');
    await world.sandbox.arm({ kind: 'stream_stall', platform: 'x' });
    await new Promise((resolve) => setTimeout(resolve, 31_000));
    expect(await ingest.endings()).toEqual([]);
  });

  test('but keep-alives, raises the alarm, and the usual is kept for the next holder', async () => {
    await using world = await openUpstreamWorld(template, { speed: 1_000 });
    await addRule(world, 'x');
    const log = createMemoryLog();
    await using ingest = startIngest(world, 'x', log, { minuteMs: 40 });
    await open(world, 'x');
    const quiet = async () => (await ingest.metrics.sourceQuiet.get()).values[0]?.value;
    const usual = async () =>
      (
        await world.database.one<{ usual: number | null }>(
          `select usual_per_minute as usual from sources where id = 'x:main'`,
        )
      )?.usual;
    await eventually(
      async () => {
        await world.sandbox.posts(Array.from({ length: 20 }, (_, n) => `rocket ${n}`));
        expect(await usual()).toBeGreaterThan(3);
      },
      { ...soon, intervalMs: 10 },
    );
    await world.sandbox.arm({ kind: 'stream_mute', platform: 'x' });
    await eventually(async () => expect(await quiet()).toBe(1), soon);
    expect(await ingest.endings()).toEqual([]);
  });
});

describe('a shutdown', () => {
  test('does not wait for a log that takes nothing, and the ledger does not cover what was lost', async () => {
    await using world = await openUpstreamWorld(template);
    await addRule(world, 'x');
    let given = 0;
    const full: EventLog = {
      consumedBy: async () => null,
      append: (_event, _consumed, giveUp) =>
        new Promise((_resolve, reject) => {
          given++;
          giveUp?.addEventListener('abort', () => reject(new Error('the log is full')));
        }),
    };
    const ingest = startIngest(world, 'x', full);
    await open(world, 'x');
    await world.sandbox.posts(['rocket']);
    await eventually(() => expect(given).toBe(1), soon);
    const lostAt = performance.now();
    await ingest[Symbol.asyncDispose]();
    expect(performance.now() - lostAt).toBeLessThan(10_000);
    const row = await world.database.one<{ ended_because: string; unproven_ms: number }>(
      `select ended_because, extract(epoch from now() - proven_until)::float8 * 1000 as unproven_ms from coverage`,
    );
    expect(row?.ended_because).toBe('stopped');
    expect(row?.unproven_ms).toBeGreaterThan(2_000);
  });
});

describe('strange things on the wire', () => {
  test('of X are dropped under a reason, and every post arrives', async () => {
    await using world = await openUpstreamWorld(template);
    await addRule(world, 'x');
    const log = createMemoryLog();
    await using ingest = startIngest(world, 'x', log);
    await open(world, 'x');
    const faults = [
      'unknown_message',
      'not_json',
      'big_frame',
      'merge_chunks',
      'split_line_end',
      'out_of_order',
    ];
    for (const kind of faults) await world.sandbox.arm({ kind, platform: 'x' });
    const posts = await world.sandbox.posts(Array.from({ length: 10 }, (_, n) => `rocket ${n} 🚀`));
    await eventually(() => expect(log.entries).toHaveLength(10), soon);
    expect(log.entries.map(({ event }) => event.key).toSorted()).toEqual(
      posts.map(({ id }) => id).toSorted(),
    );
    expect(await world.sandbox.fired()).toEqual(faults.map(() => 1));
    const dropped = (await ingest.metrics.itemsDropped.get()).values.filter(({ value }) => value > 0);
    expect(Object.fromEntries(dropped.map(({ labels, value }) => [labels.reason, value]))).toEqual({
      not_json: 1,
      too_large: 1,
      unknown_shape: 1,
    });
    expect(await ingest.endings()).toEqual([]);
  });

  test('of Firehose are dropped under a reason, and every page arrives', async () => {
    await using world = await openUpstreamWorld(template);
    await addRule(world, 'firehose');
    const log = createMemoryLog();
    await using ingest = startIngest(world, 'firehose', log);
    await open(world, 'firehose');
    const faults = [
      'unknown_message',
      'not_json',
      'big_frame',
      'merge_chunks',
      'split_line_end',
      'split_chunks',
    ];
    for (const kind of faults) await world.sandbox.arm({ kind, platform: 'firehose' });
    const ids = await world.sandbox.pages(Array.from({ length: 10 }, (_, n) => `rocket ${n}`));
    await eventually(() => expect(log.entries).toHaveLength(10), soon);
    expect(log.entries.map(({ event }) => event.upstreamEventId)).toEqual(ids);
    expect(await world.sandbox.fired()).toEqual(faults.map(() => 1));
    expect(await ingest.endings()).toEqual([]);
  });

  test.each(['stream_reset', 'stream_eof', 'stream_empty'] as const)(
    'a %s is a drop, and the stream is opened again',
    async (kind) => {
      await using world = await openUpstreamWorld(template);
      await addRule(world, 'x');
      const log = createMemoryLog();
      if (kind === 'stream_empty') await world.sandbox.arm({ kind, platform: 'x' });
      await using ingest = startIngest(world, 'x', log);
      if (kind !== 'stream_empty') {
        await open(world, 'x');
        await world.sandbox.arm({ kind, platform: 'x' });
      }
      await eventually(async () => expect(await ingest.endings()).toEqual(['dropped']), soon);
      await eventually(async () => {
        await world.sandbox.posts(['rocket']);
        expect(log.entries).not.toEqual([]);
      }, soon);
      expect(await world.sandbox.fired()).toEqual([1]);
    },
  );
});
