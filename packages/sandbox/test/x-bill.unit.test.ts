import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { defaultXToken, type Sandbox, startSandbox } from '../src/index.ts';
import { createMeter } from '../src/x/metering.ts';
import { at, createClient, listAt } from './client.ts';

vi.setConfig({ testTimeout: 30_000, hookTimeout: 30_000 });

let sandbox: Sandbox;
let client: ReturnType<typeof createClient>;

beforeEach(async () => {
  sandbox = await startSandbox({
    speed: 100,
    ruleDelayMs: 0,
    xApps: [
      { token: defaultXToken, plan: 'enterprise' },
      { token: 'other', plan: 'payg' },
    ],
  });
  client = createClient(sandbox);
});
afterEach(() => sandbox.close());

const bill = async (token = defaultXToken) => (await client.control('GET', `/x/bill?token=${token}`)).body;
const today = () => new Date().toISOString().slice(0, 10);
const ago = (ms: number) => new Date(Date.now() - ms).toISOString();
const publish = (...posts: object[]) => client.control('POST', '/x/posts', { posts });

const expansions =
  'expansions=author_id,in_reply_to_user_id,referenced_tweets.id,referenced_tweets.id.author_id,entities.mentions.username';
/** A reply to a post of `asker` that mentions two others. */
const reply = {
  id: '100',
  text: 'fjord @ana @ben',
  author: { id: '1', username: 'writer' },
  in_reply_to_user_id: '2',
  referenced_tweets: [{ type: 'replied_to', id: '50' }],
  includes: {
    tweets: [{ id: '50', text: 'where?', author_id: '2' }],
    users: [
      { id: '2', username: 'asker' },
      { id: '3', username: 'ana' },
      { id: '4', username: 'ben' },
    ],
  },
};

test('a delivered post is billed alone, or with its users and referenced posts', async () => {
  await client.addXRules('fjord');
  const stream = await client.openX(`?${expansions}`);
  await publish(reply);
  await stream.record();
  const counts = { posts: 1, referenced_posts: 1, users: 4, counts_recent: 0, counts_all: 0 };
  const microUsd = { min: 5_000, max: 5_000 + 5_000 + 4 * 10_000 };
  expect(await bill()).toEqual({
    token: defaultXToken,
    days: [{ date: today(), ...counts, micro_usd: microUsd }],
    total: { ...counts, micro_usd: microUsd },
    expansions: 'billed',
    billed_micro_usd: 50_000,
  });
  await client.control('POST', '/x/knobs', { expansions: 'free' });
  expect(await bill()).toMatchObject({ expansions: 'free', billed_micro_usd: 5_000 });
});

test('each user and post is billed once a day, whatever delivers it', async () => {
  await client.addXRules('fjord');
  const stream = await client.openX(`?${expansions}`);
  await publish(reply, { id: '50', text: 'fjord where?', author: { id: '2', username: 'asker' } }, reply);
  for (const _ of [1, 2, 3]) await stream.record();
  expect(at(await bill(), 'total')).toMatchObject({
    posts: 2,
    referenced_posts: 0,
    users: 4,
    micro_usd: { min: 10_000, max: 50_000 },
  });
});

test('only requested expansions are billed', async () => {
  await client.addXRules('fjord');
  const stream = await client.openX('?expansions=author_id');
  await publish(reply);
  await stream.record();
  expect(at(await bill(), 'total')).toMatchObject({ posts: 1, referenced_posts: 0, users: 1 });
});

test('an app pays only for its own deliveries', async () => {
  await client.addXRules('fjord');
  const stream = await client.openX();
  await publish(reply);
  await stream.record();
  expect(at(await bill(), 'total', 'posts')).toBe(1);
  expect(at(await bill('other'), 'days')).toEqual([]);
});

test('search results are billed with their expansions, unless the stream delivered them on the same day', async () => {
  await client.addXRules('glacier');
  const stream = await client.openX('?expansions=author_id');
  const streamed = { id: '200', text: 'fjord glacier', author: { id: '9', username: 'nine' } };
  await publish({ ...reply, created_at: ago(60_000) }, { ...streamed, created_at: ago(60_000) });
  await stream.record();
  expect(at(await bill(), 'total', 'micro_usd')).toEqual({ min: 5_000, max: 15_000 });
  const search = `/2/tweets/search/recent?query=fjord&max_results=10&expansions=author_id,referenced_posts`;
  expect(listAt((await client.x('GET', search)).body, 'data')).toHaveLength(2);
  expect(at(await bill(), 'total')).toMatchObject({
    posts: 2,
    referenced_posts: 1,
    users: 2,
    micro_usd: { min: 10_000, max: 35_000 },
  });
});

test('a search that finds nothing costs nothing', async () => {
  await client.x('GET', '/2/tweets/search/recent?query=fjord&max_results=10');
  expect(at(await bill(), 'days')).toEqual([]);
});

test('recovered posts are billed with their expansions', async () => {
  await client.addXRules('fjord');
  await publish({ ...reply, created_at: ago(60_000) });
  const job = await client.openX(`?${expansions}&start_time=${ago(120_000)}&end_time=${ago(1_000)}`);
  await job.ended();
  expect(at(await bill(), 'total', 'micro_usd')).toEqual({ min: 5_000, max: 50_000 });
});

test('backfill delivers the matches of the last minutes, and bills those that are new on that day', async () => {
  await client.addXRules('fjord');
  const first = await client.openX();
  await publish({ id: '1', text: 'fjord seen' });
  await first.record();
  first.close();
  await publish(
    { id: '2', text: 'fjord missed', created_at: ago(30_000) },
    { id: '3', text: 'fjord before', created_at: ago(90_000) },
    { id: '4', text: 'glacier' },
  );
  const second = await client.openX('?backfill_minutes=1');
  expect([await second.record(), await second.record()]).toMatchObject([
    { data: { id: '2' } },
    { data: { id: '1' } },
  ]);
  expect(at(await bill(), 'total', 'posts')).toBe(2);
  expect((await client.openX('?backfill_minutes=6')).status).toBe(400);
  expect((await client.openX('?backfill_minutes=1', 'other')).status).toBe(400);
});

test('a post that a stalled stream did not receive is not billed', async () => {
  await client.addXRules('fjord');
  await client.openX();
  await client.arm({ kind: 'stream_stall' });
  await publish(reply);
  expect(at(await bill(), 'days')).toEqual([]);
});

test('the bill keeps exactly 90 days, also days whose ids are dropped', () => {
  const meter = createMeter();
  const start = Date.parse('2026-01-01T12:00:00Z');
  for (let day = 0; day < 95; day += 1) {
    const atMs = start + day * 24 * 3_600_000;
    for (const id of ['1', '1', '2']) meter.count(atMs, { data: { id }, includes: { users: [{ id }] } });
    meter.countCall(atMs, 'countsRecent');
  }
  const days = meter.days();
  expect(days).toHaveLength(90);
  expect(days[0]?.date).toBe('2026-01-06');
  expect(days.at(-1)?.date).toBe('2026-04-05');
  for (const day of days)
    expect(day).toMatchObject({
      posts: 2,
      users: 2,
      countsRecent: 1,
      microUsd: { min: 15_000, max: 35_000 },
    });
});

test('usage reports the posts of each day, for the project and for the app', async () => {
  await client.addXRules('fjord');
  const stream = await client.openX(`?${expansions}`);
  await publish(reply);
  await stream.record();
  await client.x('GET', '/2/tweets/counts/recent?query=fjord');
  const fields = 'project_usage,daily_project_usage,daily_client_app_usage';
  const { body } = await client.x('GET', `/2/usage/tweets?days=2&usage.fields=${fields}`);
  const usage = [
    { date: `${ago(24 * 3_600_000).slice(0, 10)}T00:00:00.000Z`, usage: '0' },
    { date: `${today()}T00:00:00.000Z`, usage: '2' },
  ];
  expect(body).toEqual({
    data: {
      project_usage: '2',
      daily_project_usage: { project_id: '1', usage },
      daily_client_app_usage: [{ client_app_id: expect.any(String), usage_result_count: 2, usage }],
    },
  });
});

test('usage has daily figures only on request, and accepts 1 to 90 days', async () => {
  const usage = (query: string) => client.x('GET', `/2/usage/tweets${query}`);
  expect(Object.keys(Object(at((await usage('')).body, 'data')))).toEqual([
    'cap_reset_day',
    'project_cap',
    'project_id',
    'project_usage',
  ]);
  const statuses = ['?days=0', '?days=91', '?usage.fields=nothing', '?day=1'].map(
    async (query) => (await usage(query)).status,
  );
  expect(await Promise.all(statuses)).toEqual([400, 400, 400, 400]);
});
