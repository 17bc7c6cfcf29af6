import { describe, expect, test } from 'vitest';
import { splitAtRandom } from '../src/faults.ts';
import { createPageWriter } from '../src/feed/pages.ts';
import { createPostWriter } from '../src/feed/posts.ts';
import { createEventLog } from '../src/firehose/event-log.ts';
import { buildPage } from '../src/firehose/page.ts';
import { createRuleIndex } from '../src/match/rule-index.ts';
import { createRandom } from '../src/random.ts';
import { createFixedWindow, createSlidingWindow } from '../src/rate-limit.ts';
import { createSnowflakes } from '../src/snowflake.ts';
import { createMeter } from '../src/x/metering.ts';
import { buildPost } from '../src/x/post.ts';

describe('a fixed window', () => {
  test('counts down, refuses beyond the limit and starts anew after the reset', () => {
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

describe('an event log', () => {
  const event = (matchedAtMs: number) => ({ matchedAtMs, queryIds: [], data: '', chargeKey: '' });

  test('finds events by offset across jumps, and by time', () => {
    const log = createEventLog({ firstOffset: 100, retentionMs: 1_000, nowMs: () => 50 });
    log.append(event(10), 5);
    log.append(event(20), 1);
    log.append(event(30), 1);
    expect(log.firstFrom(0)?.offset).toBe(100);
    expect(log.firstFrom(101)?.offset).toBe(105);
    expect(log.firstFrom(107)).toBeUndefined();
    expect(log.offsetAt(20)).toBe(105);
    expect(log.offsetAt(31)).toBe(107);
    expect(log.nextOffset()).toBe(107);
  });

  test('starts an expired position at the oldest event that is left', () => {
    let nowMs = 50;
    const log = createEventLog({ firstOffset: 100, retentionMs: 30, nowMs: () => nowMs });
    log.append(event(10), 1);
    log.append(event(40), 1);
    expect(log.firstFrom(100)?.offset).toBe(101);
    nowMs = 100;
    expect(log.size()).toBe(0);
    expect(log.nextOffset()).toBe(102);
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
  const none = { users: [], posts: [] };
  meter.count(Date.parse('2026-01-01T23:59:59Z'), '1', none);
  meter.count(Date.parse('2026-01-01T23:59:59Z'), '1', none);
  meter.count(Date.parse('2026-01-02T00:00:00Z'), '1', none);
  expect(meter.report()).toMatchObject([
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

describe('the feed', () => {
  const write = (seed: number, count: number) => {
    const random = createRandom(seed);
    let lastId = 1_000;
    const writePost = createPostWriter(random, () => String((lastId += 1)));
    const writePage = createPageWriter(random);
    return {
      posts: Array.from({ length: count }, writePost),
      pages: Array.from({ length: count }, () => writePage(Date.parse('2026-01-01T00:00:00Z'))),
    };
  };

  test('is the same for the same seed and another for another seed', () => {
    expect(write(7, 50)).toEqual(write(7, 50));
    expect(write(7, 50)).not.toEqual(write(8, 50));
  });

  test('leaves no slot open and makes posts and pages that the sandbox takes', () => {
    const { posts, pages } = write(7, 500);
    expect(JSON.stringify([posts, pages])).not.toMatch(/\{[a-z]+\}/);
    const deps = { nowMs: () => 0, nextId: () => '1' };
    expect(posts.filter((post) => typeof buildPost(post, deps) === 'string')).toEqual([]);
    expect(pages.filter((page) => typeof buildPage(page, 0) === 'string')).toEqual([]);
  });

  test('has several languages, topics, tags, links, retweets, replies and quotes', () => {
    const all = JSON.stringify(write(7, 300).posts);
    const traits = [
      '"lang":"de"',
      '"lang":"ja"',
      '#',
      '$',
      'https://',
      'retweeted',
      'replied_to',
      'quoted',
      'photo',
    ];
    for (const trait of [...traits, 'rocket', 'outage', 'chip', 'launch', 'football'])
      expect(all).toContain(trait);
  });
});
