import { describe, expect, test } from 'vitest';
import { splitAtRandom } from '../src/faults.ts';
import { createReplayBuffer } from '../src/firehose/replay-buffer.ts';
import { createRuleIndex } from '../src/match/rule-index.ts';
import { createRandom } from '../src/random.ts';
import { createFixedWindow, createSlidingWindow } from '../src/rate-limit.ts';
import { createSnowflakes } from '../src/snowflake.ts';
import { createMeter } from '../src/x/metering.ts';

describe('a fixed window', () => {
  test('counts down, refuses beyond the limit and starts again after the reset', () => {
    let nowMs = 1_000;
    const window = createFixedWindow({ limit: 2, windowMs: 100, nowMs: () => nowMs });
    expect(window.take()).toEqual({ allowed: true, limit: 2, remaining: 1, resetAtMs: 1_100 });
    expect(window.take()).toMatchObject({ allowed: true, remaining: 0 });
    expect(window.take()).toMatchObject({ allowed: false, remaining: 0, resetAtMs: 1_100 });
    nowMs = 1_100;
    expect(window.take()).toMatchObject({ allowed: true, remaining: 1, resetAtMs: 1_200 });
  });
});

describe('a sliding window', () => {
  test('says how long to wait and does not count what it refused', () => {
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

  test('starts an expired position at the oldest event that is left', () => {
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

test('a rule index finds by key, tries rules without a key, and forgets removed rules', () => {
  const index = createRuleIndex<string, { keys: Set<string> }>();
  const tried: string[] = [];
  const matcher = (name: string, anyOfKeys: string[] | undefined) => ({
    anyOfKeys,
    test: () => tried.push(name) > 0,
  });
  index.add('keyed', matcher('keyed', ['a', 'b']));
  index.add('other', matcher('other', ['c']));
  index.add('free', matcher('free', undefined));
  expect(index.matching({ keys: new Set(['a', 'b']) }).toSorted()).toEqual(['free', 'keyed']);
  expect(tried.toSorted()).toEqual(['free', 'keyed']);
  index.remove('keyed');
  index.remove('free');
  expect(index.matching({ keys: new Set(['a', 'b']) })).toEqual([]);
});

test('a post seen again after midnight UTC is charged again', () => {
  const meter = createMeter();
  const record = { data: { id: '1' } };
  meter.count(Date.parse('2026-01-01T23:59:59Z'), record);
  meter.count(Date.parse('2026-01-01T23:59:59Z'), record);
  meter.count(Date.parse('2026-01-02T00:00:00Z'), record);
  expect(meter.days()).toMatchObject([
    { date: '2026-01-01', posts: 1 },
    { date: '2026-01-02', posts: 1 },
  ]);
});

test('snowflakes of one millisecond differ and grow', () => {
  const next = createSnowflakes();
  const ids = Array.from({ length: 1_000 }, () => BigInt(next(Date.now())));
  expect(new Set(ids).size).toBe(1_000);
  expect(ids).toEqual(ids.toSorted((one, other) => (one < other ? -1 : 1)));
});

test('random pieces join to the whole', () => {
  const whole = Buffer.from('はやぶさ 🚀 and more');
  const pieces = splitAtRandom(whole, createRandom(3));
  expect(pieces.length).toBeGreaterThan(1);
  expect(Buffer.concat(pieces)).toEqual(whole);
});
