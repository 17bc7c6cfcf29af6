import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { StreamEnded, type StreamStart, type UpstreamStream } from '../upstream/upstream-stream.ts';
import { capStream } from './cap-stream.ts';
import type { Allowance } from './installation-budget.ts';

const resetsAt = new Date('2026-11-17T00:00:00Z');
const enough: Allowance = { remainingUsd: 10, reached: null };
const reached = (isSure: boolean): Allowance => ({ remainingUsd: 1, reached: { resetsAt, isSure } });
const start: StreamStart = { after: '7', since: null, now: new Date() };

function setUp({ sources = 1, itemUsdMax = 0.01, nowMs = resetsAt.getTime() - 90_000 } = {}) {
  const state = { allowance: enough, nowMs, reads: 0 };
  const opened: StreamStart[] = [];
  /** Opens, and then sends nothing until it is aborted. */
  const upstream: UpstreamStream = {
    async *open(from, signal) {
      opened.push(from);
      yield { kind: 'opened' };
      if (!signal.aborted) await once(signal, 'abort');
      throw new StreamEnded({ kind: 'dropped' }, 'aborted');
    },
  };
  const stream = capStream(upstream, {
    budget: {
      async read() {
        state.reads++;
        if (state.allowance === undefined) throw new Error('no database');
        return state.allowance;
      },
    },
    itemUsdMax,
    sources: async () => sources,
    nowMs: () => state.nowMs,
    pollIntervalMs: 5,
  });
  const stop = new AbortController();
  return {
    state,
    opened,
    stop: () => stop.abort(),
    /** How the connection ends. */
    async listen(onOpened = () => {}): Promise<unknown> {
      try {
        for await (const frame of stream.open(start, stop.signal)) if (frame.kind === 'opened') onOpened();
        return null;
      } catch (error) {
        return error instanceof StreamEnded ? error.ending : error;
      }
    },
  };
}

describe("a stream under the installation's budget", () => {
  test('does not open while the budget is reached, until the next period', async () => {
    const world = setUp();
    world.state.allowance = reached(true);
    expect(await world.listen()).toEqual({ kind: 'budget', retryAfterMs: 90_000, resetsAt });
    // The rate has fallen to nothing since.
    world.state.allowance = enough;
    world.state.nowMs += 60_000;
    expect(await world.listen()).toEqual({ kind: 'budget', retryAfterMs: 30_000, resetsAt });
    expect(world.opened).toEqual([]);
    world.state.nowMs += 30_000;
    expect(await world.listen(world.stop)).toEqual({ kind: 'dropped' });
    expect(world.opened).toHaveLength(1);
  });

  test('opens although the budget is reached if its items are free', async () => {
    const world = setUp({ itemUsdMax: 0 });
    world.state.allowance = reached(true);
    expect(await world.listen(world.stop)).toEqual({ kind: 'dropped' });
    expect(world.opened).toEqual([start]);
  });

  test('is closed when the budget is reached', async () => {
    const world = setUp();
    const ending = await world.listen(() => {
      world.state.allowance = reached(true);
    });
    expect(ending).toEqual({ kind: 'budget', retryAfterMs: 90_000, resetsAt });
    world.state.allowance = enough;
    expect(await world.listen()).toMatchObject({ kind: 'budget' });
    expect(world.opened).toHaveLength(1);
  });

  test('is retried soon if only uncounted events exceeded the budget', async () => {
    const world = setUp();
    world.state.allowance = reached(false);
    expect(await world.listen()).toEqual({ kind: 'budget', retryAfterMs: 60_000, resetsAt });
    world.state.allowance = enough;
    expect(await world.listen(world.stop)).toEqual({ kind: 'dropped' });
  });

  test('requests no more items than its share of the budget pays for, and waits at most an hour', async () => {
    const world = setUp({ sources: 3, nowMs: resetsAt.getTime() - 7_200_000 });
    await world.listen(world.stop);
    expect(world.opened).toEqual([{ ...start, itemsMax: 333 }]);
    world.state.allowance = reached(true);
    expect(await world.listen()).toMatchObject({ retryAfterMs: 3_600_000 });
    const poor = setUp({ sources: 3 });
    poor.state.allowance = { remainingUsd: 0.029, reached: null };
    expect(await poor.listen()).toMatchObject({ kind: 'budget', retryAfterMs: 60_000 });
    expect(poor.opened).toEqual([]);
  });

  test('stays open while the database cannot be read, and ends when the upstream ends it', async () => {
    const world = setUp();
    const ending = await world.listen(() => {
      Object.assign(world.state, { allowance: undefined });
      const before = world.state.reads;
      const timer = setInterval(() => {
        if (world.state.reads < before + 3) return;
        clearInterval(timer);
        world.stop();
      }, 5);
    });
    expect(ending).toEqual({ kind: 'dropped' });
  });
});
