import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  apartMsOf,
  type CallLimit,
  collectMsAt,
  isShortAt,
  removalRoomAt,
  roomAt,
  type SpentCalls,
  spend,
  waitMsAt,
  withoutReserve,
} from './call-budget.ts';

const limit: CallLimit = { bucket: 'change', calls: 10, windowMs: 1_000 };
const spentAt = (...times: number[]): SpentCalls => times;
const eight = spentAt(0, 10, 20, 30, 40, 50, 60, 70);

describe('a budget of calls', () => {
  test('leaves two calls of the limit unused', () => {
    expect(roomAt(limit, [], 0)).toBe(8);
    expect(waitMsAt(limit, eight.slice(1), 100)).toBe(0);
    expect(roomAt(limit, eight, 100)).toBe(0);
    expect(waitMsAt(limit, eight, 100)).toBe(900);
  });

  test('frees calls that have left the window', () => {
    expect(roomAt(limit, eight, 1_010)).toBe(2);
    expect(waitMsAt(limit, eight, 1_000)).toBe(0);
    expect(spend(limit, eight, 1_010)).toEqual([20, 30, 40, 50, 60, 70, 1_010]);
  });

  test('waits if an earlier holder exceeded it', () => {
    expect(waitMsAt(limit, [...eight, 80, 90], 100)).toBe(920);
  });

  test('collects only near the limit, and then spaces the calls', () => {
    expect(collectMsAt(limit, eight.slice(0, 3), 100)).toBe(0);
    expect(collectMsAt(limit, eight.slice(0, 5), 100)).toBe(50);
    expect(collectMsAt(limit, eight.slice(0, 7), 60)).toBe(125);
    expect(collectMsAt(limit, eight.slice(0, 7), 150)).toBe(35);
    expect(collectMsAt(limit, eight.slice(0, 7), 500)).toBe(0);
    expect(collectMsAt(limit, eight, 75)).toBe(0);
  });

  test('leaves half of the limit to registrations, but allows some removals', () => {
    const just = { share: 0.5, lastRemovalMs: 90 };
    expect(removalRoomAt(limit, [], 100, just)).toBe(3);
    expect(removalRoomAt(limit, eight.slice(0, 2), 100, just)).toBe(1);
    expect(removalRoomAt(limit, eight.slice(0, 3), 100, just)).toBe(0);
    expect(removalRoomAt(limit, eight.slice(0, 3), 100, { ...just, lastRemovalMs: 33 })).toBe(1);
    expect(removalRoomAt(limit, eight, 100, { ...just, lastRemovalMs: Number.NEGATIVE_INFINITY })).toBe(0);
    expect(removalRoomAt(limit, eight.slice(0, 3), 100, { ...just, share: 1 })).toBe(5);
  });

  test('is short if less than a tenth is left', () => {
    expect(isShortAt(limit, eight.slice(1), 100)).toBe(false);
    expect(isShortAt(limit, eight, 100)).toBe(true);
  });
});

/** Sequential calls; each arrives at the platform between its start and its end. */
const someCalls = fc.array(
  fc.record({ idleMs: fc.nat(60), arrivesMs: fc.nat(60), answersMs: fc.nat(20), isStop: fc.boolean() }),
  {
    minLength: 1,
    maxLength: 120,
  },
);

function arrivalsOf(
  calls: ReadonlyArray<{ idleMs: number; arrivesMs: number; answersMs: number; isStop: boolean }>,
): number[] {
  let nowMs = 0;
  let spent: SpentCalls = [];
  return calls.map(({ idleMs, arrivesMs, answersMs, isStop }) => {
    nowMs += idleMs;
    nowMs += waitMsAt(isStop ? limit : withoutReserve(limit), spent, nowMs);
    spent = spend(limit, spent, nowMs);
    const arrival = nowMs + arrivesMs;
    nowMs = arrival + answersMs;
    return arrival;
  });
}

test('jobs at this interval leave half of the calls to others', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 60 }), (calls) => {
      const reads = { bucket: 'read', calls: 450, windowMs: 900_000 };
      const apartMs = apartMsOf(reads, calls);
      const times = Array.from(
        { length: Math.ceil((2 * reads.windowMs) / apartMs) },
        (_, nth) => nth * apartMs,
      );
      const spent = times.flatMap((at) => Array<number>(calls).fill(at));
      const left = roomAt(reads, spent, times.at(-1) ?? 0);
      expect(left).toBeGreaterThanOrEqual(reads.calls / 2 - calls - 2);
      expect(left).toBeLessThanOrEqual(reads.calls / 2 + calls);
    }),
  );
});

test('calls reserved for stops are left, however many others are made', () => {
  const limits = fc.record({ calls: fc.integer({ min: 4, max: 500 }), windowMs: fc.constant(1_000) });
  fc.assert(
    fc.property(limits, fc.array(fc.nat(40), { maxLength: 600 }), (given, idleMs) => {
      const whole = { ...given, bucket: 'change' };
      const usual = withoutReserve(whole);
      let [nowMs, spent]: [number, SpentCalls] = [0, []];
      for (const idle of idleMs) {
        nowMs += idle;
        nowMs += waitMsAt(usual, spent, nowMs);
        spent = spend(usual, spent, nowMs);
        expect(roomAt(whole, spent, nowMs)).toBeGreaterThanOrEqual(Math.ceil(given.calls / 20));
        expect(waitMsAt(whole, spent, nowMs)).toBe(0);
      }
    }),
  );
});

test('no window has more arriving calls than the platform allows', () => {
  fc.assert(
    fc.property(someCalls, (calls) => {
      const arrivals = arrivalsOf(calls);
      for (const [index, first] of arrivals.entries()) {
        const last = arrivals[index + limit.calls];
        if (last !== undefined) expect(last - first).toBeGreaterThanOrEqual(limit.windowMs);
      }
    }),
    { numRuns: 500 },
  );
});
