import { expect, test } from 'vitest';
import { createLag } from './lag.ts';
import { driftOf, judge, type Run } from './verdict.ts';

const good: Run = {
  rate: 100,
  sentPerSecond: 100,
  stored: Uint8Array.of(1, 1, 1),
  listed: Uint8Array.of(1, 1, 1),
  samples: [],
  recoveryMs: 9_000,
};

/** One every ten seconds. */
const samplesOf = (memory: readonly number[]) =>
  memory.map((server, n) => ({
    atMs: 5_000 + n * 10_000,
    memoryMiB: { server },
    cpuSeconds: {},
    machine: { busy: 0, all: 0 },
  }));
const minutes = (...memory: number[]) => samplesOf(memory.flatMap((one) => Array<number>(6).fill(one)));

test('a run in which everything holds breaks nothing', () => {
  expect(judge(good)).toEqual({
    line: 'sustained rate=100 sent=3 lost=0 doubled=0 memory_drift=too_short recovery_s=9.0',
    broken: [],
  });
});

test.each<[string, Partial<Run>, string]>([
  ['an item that is not stored', { stored: Uint8Array.of(1, 0, 1) }, 'lost=1'],
  ['an item that was not listed', { listed: Uint8Array.of(1, 1, 0) }, 'lost=1'],
  ['an item that is stored twice', { stored: Uint8Array.of(2, 1, 1) }, 'doubled=1'],
  ['an item that was listed twice', { listed: Uint8Array.of(1, 1, 2) }, 'doubled=1'],
  ['a lag that stays', { recoveryMs: null }, 'recovery_s=never'],
  ['a lag that stays too long', { recoveryMs: 10_100 }, 'recovery_s=10.1'],
  ['memory that grows', { samples: minutes(1, 1, 100, 111) }, 'memory_drift=11.0%'],
  ['less load than was asked for', { sentPerSecond: 98 }, 'rate=98'],
])('%s breaks the run', (_, changed, said) => {
  const { line, broken } = judge({ ...good, ...changed });
  expect(broken).toHaveLength(1);
  expect(line).toContain(said);
});

test('memory counts from the third minute on, by means of whole minutes', () => {
  expect(driftOf(minutes(50, 80, 100, 104, 95), 'server')).toBeCloseTo(-0.05);
  expect(driftOf(minutes(50, 80, 100), 'server')).toBeNull();
});

test('the lag is back to small with the last late match before a second without one', () => {
  let nowMs = 0;
  const lag = createLag(() => nowMs);
  const listed = (atMs: number, listedAfterMs: number) => {
    nowMs = atMs;
    lag.listed({ number: 0, storedAfterMs: 0, listedAfterMs });
  };
  listed(500, 20);
  listed(600, 20);
  nowMs = 1_000;
  lag.postgresIsBack();
  listed(4_000, 9_000);
  listed(4_900, 900);
  listed(5_500, 1_200);
  listed(6_400, 900);
  expect(lag.recoveryMs()).toBeNull();
  listed(6_500, 100);
  expect(lag.recoveryMs()).toBe(4_500);
});
