import { eventually, migratedTemplate } from '@earshot/testkit';
import { describe, expect, test } from 'vitest';
import type { EventLog } from '../src/event-log/event-log.ts';
import { createXStream } from '../src/upstream/x/stream.ts';
import { addRule, createMemoryLog, open, soon, startIngest } from './ingest-support.ts';
import { openUpstreamWorld } from './upstream-world.ts';

const template = migratedTemplate();

describe('a stream that stays up without items', () => {
  /** Keep-alives every 2 s and a watchdog after 4 s, which are 20 s and 30 s in production. */
  const faster = { speed: 10 };
  const silenceMaxMs = 4_000;

  test.concurrent('and without keep-alives is closed by the watchdog', async () => {
    await using world = await openUpstreamWorld(template, faster);
    await addRule(world, 'x');
    const upstream = createXStream(world.client('x'), { silenceMaxMs });
    await using ingest = startIngest(world, 'x', createMemoryLog(), { upstream });
    await open(world, 'x');
    await world.sandbox.arm({ kind: 'stream_stall', platform: 'x' });
    await eventually(async () => expect(await ingest.endings()).toEqual(['stalled']), { timeoutMs: 35_000 });
    expect(await world.sandbox.fired()).toEqual([1]);
  });

  test.concurrent('control: without the watchdog the stall is not detected', async () => {
    await using world = await openUpstreamWorld(template, faster);
    await addRule(world, 'x');
    const upstream = createXStream(world.client('x'), { silenceMaxMs: 0 });
    await using ingest = startIngest(world, 'x', createMemoryLog(), { upstream });
    await open(world, 'x');
    await world.sandbox.arm({ kind: 'stream_stall', platform: 'x' });
    await new Promise((resolve) => setTimeout(resolve, 1.5 * silenceMaxMs));
    expect(await ingest.endings()).toEqual([]);
  });

  test('but with keep-alives raises the alarm, and the usual rate is kept for the next holder', async () => {
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
  test('does not wait for a log that refuses everything, and the ledger does not cover what was lost', async () => {
    await using world = await openUpstreamWorld(template);
    await addRule(world, 'x');
    let given = 0;
    const full: EventLog = {
      consumedBy: async () => null,
      recordConsumed: () => undefined,
      probe: async () => undefined,
      mark: async () => undefined,
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

test('a connection that is reset counts as dropped, and the stream is opened again', async () => {
  await using world = await openUpstreamWorld(template);
  await addRule(world, 'x');
  const log = createMemoryLog();
  await using ingest = startIngest(world, 'x', log);
  await open(world, 'x');
  await world.sandbox.arm({ kind: 'stream_reset', platform: 'x' });
  await eventually(async () => expect(await ingest.endings()).toEqual(['dropped']), soon);
  await eventually(async () => {
    await world.sandbox.posts(['rocket']);
    expect(log.entries).not.toEqual([]);
  }, soon);
  expect(await world.sandbox.fired()).toEqual([1]);
});
