import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Nats } from '../engines/nats.ts';
import { createEventConsumer } from './event-consumer.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'setInterval'] }));
afterEach(() => void vi.useRealTimers());

/** A client that receives nothing, while the log reports these numbers of pending events, one after the other. */
function openSilent(pending: number[]) {
  const ended = Promise.withResolvers<IteratorResult<never>>();
  const end = () => ended.resolve({ done: true, value: undefined });
  const messages = {
    stop: end,
    close: async () => end(),
    [Symbol.asyncIterator]: () => ({ next: () => ended.promise }),
  };
  const info = async () => ({ num_pending: pending.shift() ?? 0, num_ack_pending: 0 });
  const nats = {
    jetstream: { consumers: { get: async () => ({ consume: async () => messages }) } },
    manager: { consumers: { info } },
  };
  return createEventConsumer(nats as unknown as Nats, { stalledAfterMs: 15_000 });
}

test.each([
  { pending: [1, 0], ends: 'is not replaced, because the event may have just been logged' },
  { pending: [1, 1], ends: 'is replaced' },
])(
  'a client that receives nothing while two checks find $pending pending events $ends',
  async ({ pending }) => {
    const isStuck = !pending.includes(0);
    const stop = new AbortController();
    const batches = openSilent(pending).batches(10, stop.signal);
    const next = batches[Symbol.asyncIterator]()
      .next()
      .catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(17_000);
    expect(pending).toEqual([]);
    stop.abort();
    await vi.advanceTimersByTimeAsync(15_000);
    if (isStuck) expect(await next).toEqual(new Error('the event log stopped delivering'));
    else expect(await next).toMatchObject({ done: true });
  },
);
