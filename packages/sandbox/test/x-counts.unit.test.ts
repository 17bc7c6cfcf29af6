import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type Sandbox, startSandbox } from '../src/index.ts';
import { at, createClient, listAt, textAt } from './client.ts';

vi.setConfig({ testTimeout: 30_000, hookTimeout: 30_000 });

let sandbox: Sandbox;
let client: ReturnType<typeof createClient>;

beforeEach(async () => {
  sandbox = await startSandbox({ speed: 100 });
  client = createClient(sandbox);
});
afterEach(() => sandbox.close());

const hour = 3_600_000;
const day = 24 * hour;
/** The beginning of the hour three days ago, so that no test depends on the minute in which it runs. */
const base = Math.floor((Date.now() - 3 * day) / hour) * hour;
const time = (ms: number) => new Date(ms).toISOString();

const publish = (...posts: object[]) =>
  client.control('POST', '/x/posts', {
    posts: posts.map((post) => ({ created_at: time(base), ...post })),
  });
const counts = (parameters: Record<string, string>, path = 'recent') =>
  client.x('GET', `/2/tweets/counts/${path}?${new URLSearchParams(parameters).toString()}`);
const total = async (query: string) =>
  at((await counts({ query, start_time: time(base - day) })).body, 'meta', 'total_tweet_count');

test('posts are counted by hour, also empty hours, and the first and last buckets are cut to the window', async () => {
  const minutes = [0, 29, 31, 59, 60 + 5, 3 * 60 - 1, 3 * 60];
  await publish(
    ...minutes.map((minute) => ({ text: `fjord ${minute}`, created_at: time(base + minute * 60_000) })),
    { text: 'glacier' },
  );
  const { status, body } = await counts({
    query: 'fjord',
    start_time: time(base + 30 * 60_000),
    end_time: time(base + 3 * hour),
  });
  expect(status).toBe(200);
  expect(body).toEqual({
    data: [
      { start: time(base + 30 * 60_000), end: time(base + hour), tweet_count: 2 },
      { start: time(base + hour), end: time(base + 2 * hour), tweet_count: 1 },
      { start: time(base + 2 * hour), end: time(base + 3 * hour), tweet_count: 1 },
    ],
    meta: { total_tweet_count: 4 },
  });
});

test.each([
  ['minute', 60],
  ['hour', 1],
  ['day', 1],
])('counts of an hour by %s have the expected number of buckets', async (granularity, buckets) => {
  await publish({ text: 'fjord' });
  const window = { start_time: time(base), end_time: time(base + hour) };
  const { body } = await counts({ query: 'fjord', granularity, ...window });
  expect(listAt(body, 'data')).toHaveLength(buckets);
  expect(at(body, 'meta')).toEqual({ total_tweet_count: 1 });
});

test('without a window, recent counts seven days and the archive thirty', async () => {
  const daysCounted = async (path: string) => {
    const buckets = listAt((await counts({ query: 'fjord' }, path)).body, 'data');
    const ends = [textAt(buckets[0], 'start'), textAt(buckets.at(-1), 'end')].map((end) => Date.parse(end));
    return Math.round(((ends[1] ?? 0) - (ends[0] ?? 0)) / day);
  };
  expect(await daysCounted('recent')).toBe(7);
  expect(await daysCounted('all')).toBe(30);
});

test('the archive is paged by 31 days, newest first, and each post is counted on one page', async () => {
  const end = Math.floor(Date.now() / day) * day - day;
  const ages = [1, 30, 31, 32, 61, 62, 63, 69];
  await publish(...ages.map((age) => ({ text: 'fjord', created_at: time(end - age * day) })));
  const pages: unknown[] = [];
  let token: unknown;
  do {
    const { body } = await counts(
      {
        query: 'fjord',
        start_time: time(end - 70 * day),
        end_time: time(end),
        ...(typeof token === 'string' && { next_token: token }),
      },
      'all',
    );
    const buckets = listAt(body, 'data');
    pages.push([at(buckets[0], 'start'), buckets.length, at(body, 'meta', 'total_tweet_count')]);
    token = at(body, 'meta', 'next_token');
  } while (token !== undefined);
  expect(pages).toEqual([
    [time(end - 31 * day), 744, 3],
    [time(end - 62 * day), 744, 3],
    [time(end - 70 * day), 8 * 24, 2],
  ]);
});

test('counts differ from the stream: no retweets for words, no quoted text, accents or not', async () => {
  await client.addXRules('fjord OR cafe');
  const { body } = await publish(
    { text: 'RT @a: fjord', referenced_tweets: [{ type: 'retweeted', id: '1' }], author: { username: 'b' } },
    {
      text: 'look',
      referenced_tweets: [{ type: 'quoted', id: '1' }],
      includes: { tweets: [{ id: '1', text: 'fjord' }] },
    },
    { text: 'café' },
    { text: 'fjord' },
  );
  const matched = listAt(body, 'posts').map((post) => listAt(post, 'matching_rules').length);
  expect(matched).toEqual([1, 1, 0, 1]);
  expect(await total('fjord')).toBe(1);
  expect(await total('from:b')).toBe(1);
  expect(await total('cafe')).toBe(1);
  expect(await total('café')).toBe(1);
});

test('counts include posts that were taken down later, although search does not find them', async () => {
  const { body } = await publish({ text: 'fjord' });
  await client.control('POST', '/x/taken-down', { id: at(body, 'posts', 0, 'id') });
  const found = await client.x('GET', '/2/tweets/search/recent?query=fjord&max_results=10');
  expect(at(found.body, 'meta', 'result_count')).toBe(0);
  expect(await total('fjord')).toBe(1);
});

test.each([
  ['an operator of the stream', { query: 'fjord sample:10' }],
  ['a query that is not valid', { query: '-fjord' }],
  ['513 characters', { query: 'a'.repeat(513) }],
  ['an unknown granularity', { query: 'fjord', granularity: 'week' }],
  ['a parameter of search', { query: 'fjord', max_results: '10' }],
  ['eight days', { query: 'fjord', start_time: time(Date.now() - 8 * day) }],
  ['the future', { query: 'fjord', end_time: time(Date.now() + hour) }],
  ['a token that X did not give', { query: 'fjord', next_token: 'b26v9' }],
])('recent counts refuse %s, free of charge', async (_what, parameters) => {
  const { status, body } = await counts(parameters);
  expect(status).toBe(400);
  expect(at(body, 'title')).toBe('Invalid Request');
  expect(at((await client.control('GET', '/x/state')).body, 'metering')).toEqual([]);
});

test('the archive takes 1,024 characters', async () => {
  expect((await counts({ query: 'a'.repeat(1_024) }, 'all')).status).toBe(200);
  expect((await counts({ query: 'a'.repeat(1_025) }, 'all')).status).toBe(400);
});

test('each call is billed, also without results or with the same result', async () => {
  await counts({ query: 'fjord' });
  for (const path of ['recent', 'all']) {
    const { headers } = await counts({ query: 'fjord' }, path);
    expect(headers.get('x-rate-limit-limit')).toBe('300');
  }
  const { body } = await client.control('GET', '/x/state');
  expect(body).toMatchObject({
    metering: [{ posts: 0, counts_recent: 2, counts_all: 1, micro_usd: { min: 20_000, max: 20_000 } }],
    counts: { made: 2, refused: 0 },
    archive_counts: { made: 1, refused: 0 },
  });
});

test.each([2, 4])(
  'a feed of %i posts per second adds a week at that rate to counts, and nothing to search',
  async (rate) => {
    await using fed = await startSandbox({ feed: { postsPerSecond: rate, pagesPerSecond: 0 } });
    const { x } = createClient(fed);
    const query = new URLSearchParams({
      query: 'rocket OR goal',
      end_time: time(Date.now() - 60_000),
    }).toString();
    const { body } = await x('GET', `/2/tweets/counts/recent?${query}&granularity=day`);
    const wholeDays = listAt(body, 'data')
      .slice(1, -1)
      .map((bucket) => Number(at(bucket, 'tweet_count')) / ((rate * day) / 1_000));
    expect(wholeDays).toHaveLength(6);
    // The share of the feed is the same at every rate. Days begin elsewhere in the history at another hour: five deviations of a day.
    expect(Math.min(...wholeDays)).toBeGreaterThan(0.035);
    expect(Math.max(...wholeDays)).toBeLessThan(0.11);
    expect(at((await x('GET', `/2/tweets/search/recent?${query}`)).body, 'meta', 'result_count')).toBe(0);
  },
);
