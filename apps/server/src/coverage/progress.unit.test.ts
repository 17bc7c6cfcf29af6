import { eventually } from '@earshot/testkit';
import { expect, test } from 'vitest';
import { recordMatchedThrough } from './progress.ts';

const monday = { createdAt: 'monday', lastSequence: 7 };

test('records a time once all events logged up to it are matched', async () => {
  const progress = { logged: 7, matched: 6, reads: 0 };
  const recorded: Date[] = [];
  let clock = 1_000;
  const stop = new AbortController();
  const running = recordMatchedThrough(
    {
      store: {
        record: async (through) => void recorded.push(through),
        follow: async () => ({ fate: 'same' as const, log: monday, since: new Date(clock) }),
      },
      readLog: async () => monday,
      makeLog: async () => undefined,
      telemetry: { eventLogLost: () => undefined },
      progress: {
        logged: async () => progress.logged,
        matched: async () => {
          progress.reads++;
          return progress.matched;
        },
      },
    },
    stop.signal,
  );
  await eventually(async () => expect(progress.reads).toBeGreaterThan(2), { timeoutMs: 10_000 });
  expect(recorded).toEqual([]);
  // Later events are neither awaited nor counted.
  clock = 2_000;
  progress.logged = 100;
  progress.matched = 7;
  await eventually(async () => expect(recorded).toEqual([new Date(1_000)]), { timeoutMs: 10_000 });
  stop.abort();
  await running;
});

test.each([
  { became: 'was restored', seen: { createdAt: 'monday', lastSequence: 6 }, counts: false },
  { became: 'was replaced', seen: { createdAt: 'tuesday', lastSequence: 100 }, counts: false },
  { became: 'was lost', seen: null, counts: false },
  { became: 'grew', seen: { createdAt: 'monday', lastSequence: 100 }, counts: true },
])('a log that $became during matching: the time is recorded: $counts', async ({ seen, counts }) => {
  const recorded: Date[] = [];
  await recordMatchedThrough(
    {
      store: {
        record: async (through) => void recorded.push(through),
        follow: async () => ({ fate: 'same' as const, log: monday, since: new Date(1_000) }),
      },
      readLog: async () => seen,
      makeLog: async () => undefined,
      telemetry: { eventLogLost: () => undefined },
      progress: { logged: async () => 7, matched: async () => 7 },
    },
    new AbortController().signal,
  );
  expect(recorded).toEqual(counts ? [new Date(1_000)] : []);
});

test('records nothing if the log seemed shorter while events were unmatched, although the next reading is right', async () => {
  const recorded: Date[] = [];
  await recordMatchedThrough(
    {
      store: {
        record: async (through) => void recorded.push(through),
        follow: async () => ({ fate: 'same' as const, log: monday, since: new Date(1_000) }),
      },
      readLog: async () => monday,
      makeLog: async () => undefined,
      telemetry: { eventLogLost: () => undefined },
      // A former leader answers.
      progress: { logged: async () => 5, matched: async () => 3 },
    },
    AbortSignal.timeout(20_000),
  );
  expect(recorded).toEqual([]);
});
