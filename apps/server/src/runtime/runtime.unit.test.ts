import * as fc from 'fast-check';
import { pino } from 'pino';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createMetrics } from '../observability/metrics.ts';
import { backoffDelayMs } from './backoff.ts';
import { createTurns } from './concurrency.ts';
import { Failure } from './failure.ts';
import { newId } from './ids.ts';
import { supervise } from './supervisor.ts';
import { pause, repeat, type Worker } from './worker.ts';

const never = new AbortController().signal;
const longMs = 60_000;

describe('an id', () => {
  test('is a prefix and 26 characters, and sorts by its time', () => {
    expect(newId('rule')).toMatch(/^rule_[0-9a-hjkmnp-tv-z]{26}$/);
    const time = fc.integer({ min: 0, max: 2 ** 48 - 1 });
    fc.assert(
      fc.property(time, time, (a, b) => {
        fc.pre(a < b);
        expect(newId('r', a) < newId('r', b)).toBe(true);
      }),
    );
  });

  test('is unique', () => {
    expect(new Set(Array.from({ length: 10_000 }, () => newId('r', 0))).size).toBe(10_000);
  });
});

test('a back-off grows to its maximum, and jitter takes at most half of it', () => {
  const backoff = { firstMs: 100, factor: 3, maxMs: 1_000 };
  const steps = [1, 2, 3, 4, 5_000].map((attempt) => [
    backoffDelayMs(backoff, attempt, () => 0),
    backoffDelayMs(backoff, attempt, () => 1),
  ]);
  expect(steps).toEqual([
    [50, 100],
    [150, 300],
    [450, 900],
    [500, 1_000],
    [500, 1_000],
  ]);
});

describe('a pause', () => {
  test('ends with its signal, also if that was aborted before', async () => {
    const stop = new AbortController();
    const pausing = pause(longMs, stop.signal);
    stop.abort();
    await expect(pausing).resolves.toBeUndefined();
    await expect(pause(longMs, stop.signal)).resolves.toBeUndefined();
  });

  test('lasts its time', async () => {
    const startedAt = performance.now();
    await pause(20, never);
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(19);
  });
});

describe('periodic work', () => {
  const startSlow = (stuckAfterMs?: number) => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const steps: PromiseWithResolvers<void>[] = [];
    const step = () => {
      const unfinished = Promise.withResolvers<void>();
      steps.push(unfinished);
      return unfinished.promise;
    };
    return { steps, work: repeat(1_000, step, stuckAfterMs === undefined ? {} : { stuckAfterMs }) };
  };
  const seconds = (count: number) => vi.advanceTimersByTimeAsync(count * 1_000);

  test('does not overlap: a step waits for the previous one, also for one that failed', async () => {
    const { steps, work } = startSlow();
    using _work = work;
    await seconds(5);
    expect(steps).toHaveLength(1);
    steps[0]?.reject(new Error('the database is slow'));
    await seconds(5);
    expect(steps).toHaveLength(2);
    steps[1]?.resolve();
    await seconds(1);
    expect(steps).toHaveLength(3);
  });

  test('continues beside a stuck step, whose late end releases no other step', async () => {
    const { steps, work } = startSlow(3_000);
    using _work = work;
    await seconds(4);
    expect(steps).toHaveLength(2);
    steps[0]?.resolve();
    await seconds(2);
    expect(steps).toHaveLength(2);
  });

  test('ends when it is disposed', async () => {
    const { steps, work } = startSlow();
    work[Symbol.dispose]();
    await seconds(5);
    expect(steps).toEqual([]);
  });
});

describe('a supervisor', () => {
  const log = pino({ level: 'silent' });
  const untilStopped = (signal: AbortSignal) => pause(longMs, signal);

  test('restarts a worker that threw or returned, and does not affect the others', async () => {
    const starts = { throws: 0, returns: 0, runs: 0 };
    const again = { throws: Promise.withResolvers<void>(), returns: Promise.withResolvers<void>() };
    const worker = (name: keyof typeof starts, first: () => Promise<void>): Worker => ({
      name: `${name}:1`,
      async run(signal) {
        if (++starts[name] === 1) return await first();
        if (name !== 'runs') again[name].resolve();
        return await untilStopped(signal);
      },
    });
    const metrics = createMetrics();
    const stopped = new AbortController();
    await using _supervisor = supervise(
      [
        worker('throws', () => Promise.reject(new Error('broken'))),
        worker('returns', () => Promise.resolve()),
        {
          name: 'runs:1',
          run: (signal) => (starts.runs++, untilStopped(AbortSignal.any([signal, stopped.signal]))),
        },
      ],
      { log, metrics, isOutage: () => false },
    );
    await Promise.all([again.throws.promise, again.returns.promise]);
    expect(starts).toEqual({ throws: 2, returns: 2, runs: 1 });
    const { values } = await metrics.workerFailures.get();
    expect(Object.fromEntries(values.map(({ labels, value }) => [labels.worker, value]))).toEqual({
      returns: 1,
      throws: 1,
    });
  });

  test('restarts a worker within two seconds after an outage of the database, and others with growing delays', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const starts = { away: 0, broken: 0 };
    const failing = (name: keyof typeof starts, error: Error): Worker => ({
      name,
      run: () => (starts[name]++, Promise.reject(error)),
    });
    await using _supervisor = supervise(
      [
        failing('away', new Failure('unavailable', 'away', { details: { reason: 'database' } })),
        failing('broken', new Error('broken')),
      ],
      { log, metrics: createMetrics(), isOutage: () => false },
    );
    await vi.advanceTimersByTimeAsync(60_000);
    const before = { ...starts };
    await vi.advanceTimersByTimeAsync(20_000);
    expect(starts.away - before.away).toBeGreaterThanOrEqual(10);
    expect(starts.broken - before.broken).toBeLessThanOrEqual(3);
  });

  test('counts and logs no failure for a worker that an outage interrupted', async () => {
    const lines: string[] = [];
    const metrics = createMetrics();
    const outage = new Error('away');
    const restarted = Promise.withResolvers<void>();
    let starts = 0;
    const worker: Worker = {
      name: 'interrupted',
      async run(signal) {
        if (++starts === 1) throw outage;
        restarted.resolve();
        await untilStopped(signal);
      },
    };
    await using _supervisor = supervise([worker], {
      log: pino({}, { write: (line: string) => void lines.push(line) }),
      metrics,
      isOutage: (error) => error === outage,
    });
    await restarted.promise;
    expect(lines).toEqual([]);
    expect((await metrics.workerFailures.get()).values).toEqual([]);
  });

  test('waits for every worker at its end', async () => {
    let done = false;
    const worker: Worker = {
      name: 'slow',
      async run(signal) {
        await untilStopped(signal);
        await pause(20, never);
        done = true;
      },
    };
    await supervise([worker], { log, metrics: createMetrics(), isOutage: () => false })[
      Symbol.asyncDispose
    ]();
    expect(done).toBe(true);
  });
});

test('loops that callers cause share a turn of the event loop, however many they are', async () => {
  const stepMs = 5;
  let stepsOfTurn = 0;
  let most = 0;
  let running = true;
  const nextTurn = () => {
    most = Math.max(most, stepsOfTurn);
    stepsOfTurn = 0;
    if (running) setImmediate(nextTurn);
  };
  const loop = async () => {
    const turns = createTurns();
    for (let step = 0; step < 3; step += 1) {
      await turns();
      const until = performance.now() + stepMs;
      while (performance.now() < until);
      stepsOfTurn += 1;
    }
  };
  setImmediate(nextTurn);
  await Promise.all(Array.from({ length: 32 }, loop));
  await new Promise((resolve) => setImmediate(resolve));
  running = false;
  expect(most).toBeGreaterThan(0);
  // One step fills the slice; those of two turns can come together around the callback that counts.
  expect(most).toBeLessThanOrEqual(2);
});

test('a loop with little work finishes in one slice, beside loops with much', async () => {
  const order: string[] = [];
  const loop = async (name: string, steps: number, stepMs: number) => {
    const turns = createTurns();
    for (let step = 0; step < steps; step += 1) {
      await turns();
      const until = performance.now() + stepMs;
      while (performance.now() < until);
    }
    order.push(name);
  };
  await Promise.all([...Array.from({ length: 10 }, () => loop('much', 20, 5)), loop('little', 20, 0.01)]);
  expect(order.indexOf('little')).toBe(0);
});

test('many loops with little work share a turn, instead of using one each', async () => {
  let turns = 0;
  let running = true;
  const count = () => {
    turns += 1;
    if (running) setImmediate(count);
  };
  setImmediate(count);
  await Promise.all(Array.from({ length: 500 }, () => createTurns()()));
  running = false;
  expect(turns).toBeLessThan(100);
});
