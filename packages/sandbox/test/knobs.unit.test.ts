import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Sandbox, startSandbox } from '../src/index.ts';
import { at, createClient, eventually, listAt, xRulesPath } from './client.ts';

let sandbox: Sandbox;
let client: ReturnType<typeof createClient>;

beforeEach(async () => {
  sandbox = await startSandbox({ xApps: [{ token: 'sandbox-x-token' }, { token: 'other' }] });
  client = createClient(sandbox);
});
afterEach(() => sandbox.close());

test('a knob applies to its app until it is reset', async () => {
  const add = { add: [{ value: 'fjord' }, { value: 'ice' }] };
  await client.control('POST', '/x/knobs', { rules_per_call_max: 1 });
  expect((await client.x('POST', `${xRulesPath}?dry_run=true`, add)).status).toBe(400);
  expect((await client.x('POST', `${xRulesPath}?dry_run=true`, add)).status).toBe(400);
  expect((await client.call('POST', xRulesPath, 'other', add)).status).toBe(201);
  await client.control('POST', '/x/knobs', { rules_per_call_max: null });
  expect((await client.x('POST', xRulesPath, add)).status).toBe(201);
});

test('an unknown knob or position changes nothing', async () => {
  const turned = { tag_length_max: 5, second_connection: 'welcome' };
  const refused = await client.control('POST', '/x/knobs', turned);
  expect(refused).toMatchObject({
    status: 400,
    body: { message: 'second_connection is refuse or replace.' },
  });
  expect((await client.control('POST', '/firehose/knobs', { no_such: 1 })).status).toBe(400);
  const { body } = await client.control('GET', '/x/knobs');
  expect(at(body, 'knobs')).toMatchObject({ second_connection: 'refuse', keep_alive_ms: 20_000 });
  expect(at(body, 'knobs', 'tag_length_max')).toBeGreaterThan(1_000);
});

test('adjacent words are all required if the default operator is AND', async () => {
  const compiled = async () =>
    at(
      (await client.call('POST', '/v1/validate/public', undefined, { value: 'solar wind' })).body,
      'data',
      'compiled',
    );
  expect(await compiled()).toBe('added:solar added:wind');
  await client.control('POST', '/firehose/knobs', { default_operator: 'and' });
  expect(await compiled()).toBe('+added:solar +added:wind');
  await client.addTapRule('solar wind');
  const pages = ['solar', 'solar wind'].map((text, index) => ({
    url: `https://news.example/${index}`,
    chunks: [{ typ: 'ins', text }],
  }));
  const { body } = await client.control('POST', '/firehose/pages', { pages });
  expect(listAt(body, 'pages').map((page) => listAt(page, 'events').length)).toEqual([0, 1]);
});

test('usage counts referenced posts, unless they are free', async () => {
  const usage = async () =>
    at((await client.x('GET', '/2/usage/tweets?days=1')).body, 'data', 'project_usage');
  await client.addXRules('fjord');
  const stream = await client.openX('?expansions=referenced_tweets.id');
  const quoting = {
    text: 'fjord',
    referenced_tweets: [{ type: 'quoted', id: '5' }],
    includes: { tweets: [{ id: '5', text: 'ice' }] },
  };
  await client.control('POST', '/x/posts', quoting);
  await stream.record();
  expect(await usage()).toBe('2');
  await client.control('POST', '/x/knobs', { expansions: 'free' });
  expect(await usage()).toBe('1');
  stream.close();
});

describe('with a deletion lag, a deleted rule is not listed, but its items still arrive and are billed', () => {
  test('on X, also to a new connection', async () => {
    await using prompt = await startSandbox({ ruleDelayMs: 0 });
    const x = createClient(prompt);
    const [gone, next] = await x.addXRules('fjord', 'glacier', 'anchor');
    const remove = async (id: string | undefined, deletionLagMs: number) => {
      await x.control('POST', '/x/knobs', { deletion_lag_ms: deletionLagMs });
      await x.x('POST', xRulesPath, { delete: { ids: [id] } });
    };
    (await x.openX()).close();
    await remove(gone, 600_000);
    const stream = await eventually(
      () => x.openX(),
      ({ status }) => status === 200,
    );
    await x.post('fjord');
    expect(await stream.record()).toMatchObject({ data: { text: 'fjord' }, matching_rules: [{ id: gone }] });
    expect(at((await x.control('GET', '/x/bill')).body, 'total', 'posts')).toBe(1);
    const listed = listAt((await x.x('GET', xRulesPath)).body, 'data');
    expect(listed).toMatchObject([{ value: 'glacier' }, { value: 'anchor' }]);

    await remove(next, 50);
    const matches = async () => listAt((await x.post('glacier'))[0], 'matching_rules').length;
    await eventually(matches, (count) => count === 0);
    stream.close();
  });

  test('on Firehose', async () => {
    const gone = await client.addTapRule('title:fjord');
    const next = await client.addTapRule('title:glacier');
    await client.addTapRule('title:anchor');
    const remove = async (id: string, deletionLagMs: number) => {
      await client.control('POST', '/firehose/knobs', { deletion_lag_ms: deletionLagMs });
      return (await client.tap('DELETE', `/v1/rules/${id}`)).status;
    };
    const stream = await client.openTap();
    expect(await remove(gone, 600_000)).toBe(204);
    const [event] = await client.page('fjord');
    expect((await stream.frame())?.event).toBe('connected');
    expect(await stream.frame()).toMatchObject({ id: event, data: { query_ids: [gone] } });
    expect(at((await client.control('GET', '/firehose/bill')).body, 'total', 'pages')).toBe(1);
    expect(await remove(gone, 600_000)).toBe(404);
    expect(listAt((await client.tap('GET', '/v1/rules')).body, 'data')).toHaveLength(2);

    expect(await remove(next, 50)).toBe(204);
    await eventually(
      async () => (await client.page('glacier'))[0],
      (id) => id === undefined,
    );
    stream.close();
  });
});
