import { describe, expect, test } from 'vitest';
import { createReplayBuffer } from '../src/firehose/replay-buffer.ts';
import { createSlidingWindow } from '../src/rate-limit.ts';
import { createSnowflakes } from '../src/snowflake.ts';

describe('a sliding window', () => {
  test('reports the wait and does not count refused calls', () => {
    let nowMs = 0;
    const window = createSlidingWindow({ limit: 2, windowMs: 100, nowMs: () => nowMs });
    window.take();
    nowMs = 40;
    window.take();
    nowMs = 90;
    expect(window.take()).toEqual({ allowed: false, retryAfterMs: 10 });
    nowMs = 100;
    expect(window.take()).toEqual({ allowed: true });
    expect(window.take()).toEqual({ allowed: false, retryAfterMs: 40 });
  });
});

describe('a replay buffer', () => {
  const event = (matchedAtMs: number) => ({ matchedAtMs, data: '', chargeKey: '' });

  test('finds events by offset across jumps, and by time', () => {
    const buffer = createReplayBuffer({
      firstOffset: 100,
      nextStep: () => 5,
      retentionMs: 1_000,
      nowMs: () => 50,
    });
    buffer.append(event(10));
    buffer.append(event(20));
    buffer.append(event(30));
    expect(buffer.firstFrom(0)?.offset).toBe(100);
    expect(buffer.firstFrom(101)?.offset).toBe(105);
    expect(buffer.firstFrom(111)).toBeUndefined();
    expect(buffer.offsetAt(20)).toBe(105);
    expect(buffer.offsetAt(31)).toBe(115);
    expect(buffer.nextOffset()).toBe(115);
  });

  test('starts an expired position at the oldest remaining event', () => {
    let nowMs = 50;
    const buffer = createReplayBuffer({
      firstOffset: 100,
      nextStep: () => 1,
      retentionMs: 30,
      nowMs: () => nowMs,
    });
    buffer.append(event(10));
    buffer.append(event(40));
    expect(buffer.firstFrom(100)?.offset).toBe(101);
    nowMs = 100;
    expect(buffer.size()).toBe(0);
    expect(buffer.nextOffset()).toBe(102);
  });
});

test('snowflakes of one millisecond differ and grow', () => {
  const next = createSnowflakes();
  const ids = Array.from({ length: 1_000 }, () => BigInt(next(Date.now())));
  expect(new Set(ids).size).toBe(1_000);
  expect(ids).toEqual(ids.toSorted((one, other) => (one < other ? -1 : 1)));
});
