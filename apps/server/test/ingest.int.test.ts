import { eventually, type Template } from '@earshot/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { EventLog, LogEvent } from '../src/event-log/event-log.ts';
import {
  addRule,
  coverage,
  createMemoryLog,
  type MemoryLog,
  open,
  soon,
  startIngest,
} from './ingest-support.ts';
import { createMigratedTemplate } from './support.ts';
import { openUpstreamWorld } from './upstream-world.ts';

let template: Template;
beforeAll(async () => {
  template = await createMigratedTemplate();
});
afterAll(() => template?.[Symbol.asyncDispose]());

describe('the stream of X', () => {
  test('is opened again after a cut, and the gap is in the ledger', async () => {
    await using world = await openUpstreamWorld(template);
    await addRule(world, 'x');
    const log = createMemoryLog();
    await using ingest = startIngest(world, 'x', log);
    await open(world, 'x');
    await world.sandbox.arm({ kind: 'stream_cut', platform: 'x' });
    expect(await world.sandbox.fired()).toEqual([1]);
    await eventually(async () => expect(await coverage(world)).toHaveLength(2), soon);
    expect(await coverage(world)).toEqual([{ ended_because: 'dropped' }, { ended_because: null }]);
    await eventually(async () => {
      await world.sandbox.posts(['rocket']);
      expect(log.entries).not.toEqual([]);
    }, soon);
    expect(await ingest.endings()).toEqual(['dropped']);
  });
});

test.each(['x', 'firehose'] as const)(
  'a refused connection to %s is recorded with its reason and does not stop the worker',
  async (platform) => {
    await using world = await openUpstreamWorld(template);
    await addRule(world, platform);
    await world.sandbox.arm({ kind: 'stream_status', platform, status: 429 });
    await using ingest = startIngest(world, platform, createMemoryLog());
    await eventually(async () => expect(await ingest.endings()).toEqual(['rate_limited']), soon);
    expect(await world.sandbox.fired()).toEqual([1]);
    expect(await coverage(world)).toEqual([]);
  },
);

test.each(['x', 'firehose'] as const)(
  '%s without rules is not connected until it has one',
  async (platform) => {
    await using world = await openUpstreamWorld(template);
    const log = createMemoryLog();
    await using ingest = startIngest(world, platform, log);
    await eventually(async () => expect(await ingest.endings()).toEqual(['no_rules']), soon);
    await addRule(world, platform);
    world.bells.ring('streams');
    await open(world, platform);
    await (platform === 'x' ? world.sandbox.posts(['rocket']) : world.sandbox.pages(['rocket']));
    await eventually(() => expect(log.entries).toHaveLength(1), soon);
  },
);

describe('the stream of Firehose', () => {
  const ids = (log: MemoryLog) => new Set(log.entries.map(({ event }) => event.upstreamEventId));

  test('is resumed after a cut without a loss', async () => {
    await using world = await openUpstreamWorld(template);
    await addRule(world, 'firehose');
    const log = createMemoryLog();
    await using ingest = startIngest(world, 'firehose', log);
    await open(world, 'firehose');
    const before = await world.sandbox.pages(['rocket 1', 'rocket 2']);
    await eventually(() => expect(log.entries).toHaveLength(2), soon);
    await world.sandbox.arm({ kind: 'stream_cut', platform: 'firehose' });
    // No connection is open now: only a resumed stream can deliver these.
    const after = await world.sandbox.pages(['rocket 3', 'rocket 4']);
    await eventually(() => expect(ids(log)).toEqual(new Set([...before, ...after])), soon);
    expect(await world.sandbox.fired()).toEqual([1]);
    expect(await ingest.endings()).toContain('dropped');
  });

  test('is replayed by time while the log has none of its events', async () => {
    await using world = await openUpstreamWorld(template);
    await addRule(world, 'firehose');
    const log = createMemoryLog();
    await using _ingest = startIngest(world, 'firehose', log);
    await open(world, 'firehose');
    await world.sandbox.arm({ kind: 'stream_cut', platform: 'firehose' });
    const missed = await world.sandbox.pages(['rocket 1']);
    expect(missed).toHaveLength(1);
    await eventually(() => expect(ids(log)).toEqual(new Set(missed)), soon);
    expect(await world.sandbox.fired()).toEqual([1]);
  });

  /** Everything before an event's recorded position must have been in the log before it. */
  function positionsAreSafe({ entries }: MemoryLog, all: readonly string[]): boolean {
    const taken = new Set<string>();
    return entries.every(({ event, consumed }) => {
      const upTo = consumed === null ? -1 : all.indexOf(consumed);
      const safe = all.slice(0, upTo + 1).every((id) => taken.has(id));
      taken.add(event.upstreamEventId);
      return safe;
    });
  }

  /**
   * The log stores the events behind the fourth one, and then refuses that one, once. `reported` is the position that the
   * log gets. The last page is sent after that: when it is stored, everything before it had its chance.
   */
  async function withOneRefusal(reported: (event: LogEvent, consumed: string | null) => string | null) {
    await using world = await openUpstreamWorld(template);
    await addRule(world, 'firehose');
    let refused = 0;
    const log = createMemoryLog(({ payload }) =>
      payload.title === 'rocket 3' && refused++ === 0 ? refuseOnce() : null,
    );
    const refuseOnce = async () => {
      await eventually(() => expect(log.entries).toHaveLength(5), soon);
      throw new Error('the log is down');
    };
    const append: EventLog['append'] = (event, consumed) => log.append(event, reported(event, consumed));
    await using ingest = startIngest(world, 'firehose', { ...log, append });
    await open(world, 'firehose');
    const all = await world.sandbox.pages(Array.from({ length: 6 }, (_, n) => `rocket ${n}`));
    await eventually(async () => expect(await ingest.endings()).toContain('log_unavailable'), soon);
    all.push(...(await world.sandbox.pages(['rocket 6'])));
    expect(all).toHaveLength(7);
    await eventually(() => expect(log.entries.at(-1)?.event.upstreamEventId).toBe(all.at(-1)), soon);
    expect(refused).toBeGreaterThan(0);
    return { lost: all.filter((id) => !ids(log).has(id)), safe: positionsAreSafe(log, all) };
  }

  test('does not pass an event that the log refused: it is delivered again', async () => {
    expect(await withOneRefusal((_event, consumed) => consumed)).toEqual({ lost: [], safe: true });
  });

  test('control: if the position were the last event seen, the refused event would be lost', async () => {
    const { lost, safe } = await withOneRefusal((event) => event.upstreamEventId);
    expect(lost).toHaveLength(1);
    expect(safe).toBe(false);
  });
});
