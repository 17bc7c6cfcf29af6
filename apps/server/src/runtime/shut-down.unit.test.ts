import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { shutDown } from './shut-down.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const longDelay = { drainDelayMs: 60_000, withinMs: 30_000 };

/** A node that takes this long to stop. Records events with the milliseconds since the signal. */
function stopping(stopsAfterMs: number) {
  const events: string[] = [];
  const startedAt = Date.now();
  const note = (event: string) => void events.push(`${event} ${Date.now() - startedAt}`);
  const node = {
    drain: () => note('draining'),
    async [Symbol.asyncDispose]() {
      note('stopping');
      await new Promise((resolve) => setTimeout(resolve, stopsAfterMs));
      note('leases released');
    },
  };
  return { events, node, giveUp: () => note('given up') };
}

test('a node with a drain delay longer than the hard stop still stops in order', async () => {
  const { events, node, giveUp } = stopping(29_000);
  const down = shutDown(node, { ...longDelay, giveUp });
  await vi.advanceTimersByTimeAsync(89_000);
  await down;
  expect(events).toEqual(['draining 0', 'stopping 60000', 'leases released 89000']);
});

test('a node that hangs is terminated, counted from the end of the delay', async () => {
  const { events, node, giveUp } = stopping(3_600_000);
  void shutDown(node, { ...longDelay, giveUp });
  await vi.advanceTimersByTimeAsync(89_999);
  expect(events).toEqual(['draining 0', 'stopping 60000']);
  await vi.advanceTimersByTimeAsync(1);
  expect(events.at(-1)).toBe('given up 90000');
});

test('without a delay a node stops at once', async () => {
  const { events, node, giveUp } = stopping(0);
  const down = shutDown(node, { drainDelayMs: 0, withinMs: 30_000, giveUp });
  await vi.advanceTimersByTimeAsync(0);
  await down;
  expect(events).toEqual(['draining 0', 'stopping 0', 'leases released 0']);
});
