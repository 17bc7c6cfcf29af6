import { pino } from 'pino';
import { expect, test } from 'vitest';
import { type LoggedEvent, readMessage } from '../event-log/event-consumer.ts';
import { createParsedRules } from '../language/explain-match.ts';
import { createMetrics } from '../observability/metrics.ts';
import { createTelemetry } from '../observability/telemetry.ts';
import { Failure } from '../runtime/failure.ts';
import type { MatchStore } from './match-store.sql.ts';
import { createMatchWorker, storeBatch } from './match-worker.ts';

const event = { platform: 'x', sourceId: 'x:main', key: '1', day: '2026-09-01', rules: [], payload: {} };

/** A worker with one event, whose database is down for the first `failures` attempts. */
function openWorker(
  failures: number,
  failure = new Failure('unavailable', 'away', { details: { reason: 'database' } }),
) {
  let settledCount = 0;
  let tries = 0;
  const settled = Promise.withResolvers<void>();
  const batch = readMessage(
    { seq: 7, time: new Date(), string: () => JSON.stringify(event) },
    {
      deliveries: 1,
      redeliver: () => undefined,
      onSettled() {
        settledCount++;
        settled.resolve();
      },
    },
  );
  const written: (readonly number[])[] = [];
  const store: MatchStore = {
    holdersOf: async () => [],
    sourcesRegistering: async () => new Set(),
    days: async () => new Set([event.day]),
    makeDays: async () => undefined,
    async write(_posts, _matches, sequences) {
      if (tries++ < failures) throw failure;
      written.push(sequences);
      return { counts: {}, traced: [] };
    },
    writeDeadLetter: async () => undefined,
  };
  const options = {
    installation: 'here',
    store,
    bells: {
      ring: () => undefined,
      listen: () => ({
        wait: async () => undefined,
        rang: () => undefined,
        [Symbol.dispose]: () => undefined,
      }),
    },
    telemetry: createTelemetry(pino({ level: 'silent' }), createMetrics()),
  };
  const stop = new AbortController();
  const worker = createMatchWorker({
    ...options,
    name: 'match:1',
    parsedRules: createParsedRules(),
    consumer: {
      async *batches(_max: number, signal: AbortSignal): AsyncIterable<LoggedEvent[]> {
        yield batch;
        if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve));
      },
    },
  });
  return {
    worker,
    batch,
    options,
    stop,
    settled: settled.promise,
    written,
    settledCount: () => settledCount,
    tries: () => tries,
  };
}

test('a worker keeps its batch during a database outage and stores it afterwards', async () => {
  const { worker, stop, settled, written, settledCount } = openWorker(3);
  const running = worker.run(stop.signal);
  await Promise.race([settled, running]);
  stop.abort();
  await running;
  expect(written).toEqual([[7]]);
  expect(settledCount()).toBe(1);
});

test('a worker that waits for the database stops when it is aborted', async () => {
  const { worker, stop, settledCount } = openWorker(Number.POSITIVE_INFINITY);
  const running = worker.run(stop.signal);
  stop.abort();
  await expect(running).rejects.toThrow('away');
  expect(settledCount()).toBe(0);
});

test('only a worker waits, and only for a database outage', async () => {
  const conflict = openWorker(1, new Failure('aborted', 'conflict', { details: { reason: 'conflict' } }));
  await expect(conflict.worker.run(conflict.stop.signal)).rejects.toThrow('conflict');
  const { options, batch, tries } = openWorker(1);
  await expect(storeBatch(options, batch)).rejects.toThrow('away');
  expect(tries()).toBe(1);
});
