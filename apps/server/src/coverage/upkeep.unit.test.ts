import { eventually } from '@earshot/testkit';
import { expect, test } from 'vitest';
import { recordMatchedThrough } from './upkeep.ts';

test('a time counts as matched when all that was logged at it is, and not before', async () => {
  const progress = { logged: 7, matched: 6, asked: 0 };
  const recorded: Date[] = [];
  let clock = 1_000;
  const stop = new AbortController();
  const running = recordMatchedThrough(
    {
      store: {
        now: async () => new Date(clock),
        record: async (through) => void recorded.push(through),
      },
      progress: {
        logged: async () => progress.logged,
        matched: async () => {
          progress.asked++;
          return progress.matched;
        },
      },
    },
    stop.signal,
  );
  await eventually(async () => expect(progress.asked).toBeGreaterThan(2), { timeoutMs: 10_000 });
  expect(recorded).toEqual([]);
  // What comes later is not waited for, and its time not claimed.
  clock = 2_000;
  progress.logged = 100;
  progress.matched = 7;
  await eventually(async () => expect(recorded).toEqual([new Date(1_000)]), { timeoutMs: 10_000 });
  stop.abort();
  await running;
});
