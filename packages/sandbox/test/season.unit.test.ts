import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { people } from '../src/feed/people.ts';
import { burstAt, flatSeason, levelAt } from '../src/feed/season.ts';
import { type Sandbox, startSandbox } from '../src/index.ts';
import { at, createClient, eventually, listAt, textAt } from './client.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 30_000 });

const hour = 3_600_000;
const day = 24 * hour;
/** A Monday. */
const monday = Date.parse('2026-01-05T00:00:00Z');

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
const mean = (numbers: readonly number[]) => sum(numbers) / numbers.length;

describe('the level of a season', () => {
  const swinging = { ...flatSeason, daySwing: 0.5, peakHour: 15, weekendShare: 0.6 };

  test('is highest at the peak, lowest twelve hours from it, and one on average', () => {
    expect(levelAt(swinging, monday + 15 * hour)).toBeCloseTo(1.5);
    expect(levelAt(swinging, monday + 3 * hour)).toBeCloseTo(0.5);
    const levels = Array.from({ length: 24 }, (_, n) => levelAt(swinging, monday + n * hour));
    expect(mean(levels)).toBeCloseTo(1);
  });

  test('is lower on Saturday and Sunday', () => {
    const noons = Array.from({ length: 7 }, (_, n) =>
      levelAt({ ...swinging, daySwing: 0 }, monday + n * day),
    );
    expect(noons).toEqual([1, 1, 1, 1, 1, 0.6, 0.6]);
  });
});

describe('bursts', () => {
  const bursty = { ...flatSeason, burstsPerDay: 3, burstFactor: 5, burstMinutes: 30 };
  /** The starts of all bursts of 100 days, found minute by minute. */
  const starts = (seed: number, season = bursty) => {
    const found = new Set<number>();
    for (let atMs = monday; atMs < monday + 100 * day; atMs += 60_000) {
      const burst = burstAt(season, seed, atMs);
      if (burst !== undefined) found.add(burst.startMs);
    }
    return found;
  };

  test('come about as often as they should, and are the same for the same seed', () => {
    const found = starts(7);
    expect(found.size).toBeGreaterThan(240);
    expect(found.size).toBeLessThan(360);
    expect(starts(7)).toEqual(found);
    expect(starts(8)).not.toEqual(found);
    expect(starts(7, flatSeason).size).toBe(0);
  });

  test('last as long as they should, also beyond the end of their hour', () => {
    const [start = 0] = [...starts(7)].filter((startMs) => startMs % hour > 40 * 60_000);
    const lasting = burstAt(bursty, 7, start);
    expect(burstAt(bursty, 7, start + 25 * 60_000)).toEqual(lasting);
    expect(burstAt(bursty, 7, start + 30 * 60_000)?.startMs).not.toBe(start);
  });
});

describe('a run over a week', () => {
  let sandbox: Sandbox;
  let client: ReturnType<typeof createClient>;
  beforeEach(async () => {
    sandbox = await startSandbox({ ruleDelayMs: 0 });
    client = createClient(sandbox);
  });
  afterEach(() => sandbox.close());

  const from = '2026-01-05T00:00:00.000Z';
  /** The posts of each hour of two days, by these people. */
  const hourly = async (clause: string, authors = people) => {
    const parameters = new URLSearchParams({
      query: `${clause} (${authors.map(({ username }) => `from:${username}`).join(' OR ')})`,
      start_time: from,
      end_time: '2026-01-07T00:00:00.000Z',
    });
    const { body, status } = await client.x('GET', `/2/tweets/counts/all?${parameters.toString()}`);
    expect(status).toBe(200);
    return listAt(body, 'data').map((bucket) => Number(at(bucket, 'tweet_count')));
  };
  const run = (body: object) => client.control('POST', '/x/season', body);

  test('fills the archive with a curve that counts find, and streams nothing', async () => {
    await client.addXRules('rocket');
    const season = { day_swing: 0.8, peak_hour: 15, bursts_per_day: 0 };
    const { status, body } = await run({ from, hours: 48, posts_per_hour: 60, season });
    expect(status).toBe(200);
    expect(body).toMatchObject({ from, to: '2026-01-07T00:00:00.000Z', bursts: [] });
    const posts = Number(at(body, 'posts'));
    expect(posts).toBeGreaterThan(48 * 60 * 0.9);
    expect(posts).toBeLessThan(48 * 60 * 1.1);
    const counts = await hourly('');
    expect(sum(counts)).toBe(posts);
    const around = (peak: number) => sum(counts.slice(peak - 1, peak + 2));
    expect(around(15)).toBeGreaterThan(3 * around(3));
    expect(at((await client.control('GET', '/x/state')).body, 'counters', 'matched')).toBe(0);
  });

  test('has bursts about one topic', async () => {
    const season = { day_swing: 0, bursts_per_day: 1, burst_factor: 20, burst_minutes: 60 };
    const originals = { retweets: 0, quotes: 0, replies: 0 };
    const { body } = await run({ from, hours: 48, posts_per_hour: 30, season, seed: 10, ...originals });
    const [burst, ...others] = listAt(body, 'bursts');
    expect(others).toEqual([]);
    const strangers = people.filter(
      ({ topics }) => topics !== 'news' && !topics.includes(textAt(burst, 'topic')),
    );
    const busiest = (counts: number[]) => Math.max(...counts) / mean(counts);
    expect(busiest(await hourly(''))).toBeGreaterThan(5);
    expect(busiest(await hourly('', strangers))).toBeLessThan(4);
  });

  test('is the same for the same seed', async () => {
    const body = { from, hours: 24, posts_per_hour: 20 };
    await using other = await startSandbox();
    const again = (await createClient(other).control('POST', '/x/season', body)).body;
    expect((await run(body)).body).toEqual(again);
    expect((await run({ ...body, seed: 2 })).body).not.toEqual(again);
  });

  test('has retweets, quotes and replies in the shares that were set', async () => {
    const count = async (query: string) => sum(await hourly(query));
    const { body } = await run({
      from,
      hours: 48,
      posts_per_hour: 40,
      retweets: 0.5,
      quotes: 0.2,
      replies: 0,
    });
    const posts = Number(at(body, 'posts'));
    expect((await count('is:retweet')) / posts).toBeCloseTo(0.5, 1);
    expect((await count('is:quote')) / posts).toBeCloseTo(0.2, 1);
    expect(await count('is:reply')).toBe(0);
  });

  test('can go through the streams, with the time of now', async () => {
    await client.addXRules('rocket OR outage OR chip OR football OR launch');
    const stream = await client.openX('?tweet.fields=created_at');
    const before = Date.now();
    const { body } = await run({ from, hours: 24, posts_per_hour: 20, streamed: true });
    const matched = Number(at(body, 'matched'));
    expect(matched).toBeGreaterThan(100);
    for (let n = 0; n < matched; n += 1) {
      const createdAt = Date.parse(textAt(await stream.record(), 'data', 'created_at'));
      expect(createdAt).toBeGreaterThanOrEqual(before);
    }
    expect(at((await client.control('GET', '/x/bill')).body, 'total', 'posts')).toBe(matched);
    stream.close();
  });

  test.each([
    [{ posts_per_hour: 1_000, hours: 1_000 }],
    [{ hours: 1.5 }],
    [{ from: 'yesterday' }],
    [{ retweets: 0.6, quotes: 0.5 }],
    [{ season: { day_swing: 2 } }],
    [{ season: { burst_factor: 0 } }],
    [{ season: { bursts: 1 } }],
    [{ streamed: 'yes' }],
    [{ rate: 5 }],
  ])('refuses %j', async (body) => {
    expect((await run(body)).status).toBe(400);
  });
});

test('the live feed follows a season until it is told not to', async () => {
  await using sandbox = await startSandbox({ ruleDelayMs: 0 });
  const client = createClient(sandbox);
  await client.addXRules(people.map(({ username }) => `from:${username}`).join(' OR '));
  const matched = async () =>
    Number(at((await client.control('GET', '/x/state')).body, 'counters', 'matched'));
  const alwaysBursting = { day_swing: 0, bursts_per_day: 24, burst_factor: 100, burst_minutes: 1_440 };
  const { body } = await client.control('POST', '/feed', {
    posts_per_second: 1,
    retweets: 0.4,
    season: alwaysBursting,
  });
  expect(body).toMatchObject({
    posts_per_second: 1,
    retweets: 0.4,
    season: { ...alwaysBursting, peak_hour: 15 },
  });
  // Ten seconds of the rate alone would be ten.
  await eventually(matched, (count) => count > 60);
  const back = await client.control('POST', '/feed', { posts_per_second: 0, season: null });
  expect(back.body).toMatchObject({ retweets: 0.4, season: { burst_factor: 1, bursts_per_day: 0 } });
});
