import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Sandbox, startSandbox } from '../src/index.ts';
import { at, createClient, listAt, xRulesPath } from './client.ts';

let sandbox: Sandbox;
let client: ReturnType<typeof createClient>;

beforeEach(async () => {
  sandbox = await startSandbox({ xApps: [{ token: 'sandbox-x-token' }, { token: 'other' }] });
  client = createClient(sandbox);
});
afterEach(() => sandbox.close());

test('a knob holds for its app until it is turned back', async () => {
  const add = { add: [{ value: 'fjord' }, { value: 'ice' }] };
  await client.control('POST', '/x/knobs', { rules_per_call_max: 1 });
  expect((await client.x('POST', `${xRulesPath}?dry_run=true`, add)).status).toBe(400);
  expect((await client.x('POST', `${xRulesPath}?dry_run=true`, add)).status).toBe(400);
  expect((await client.call('POST', xRulesPath, 'other', add)).status).toBe(201);
  await client.control('POST', '/x/knobs', { rules_per_call_max: null });
  expect((await client.x('POST', xRulesPath, add)).status).toBe(201);
});

test('a knob or a position that does not exist turns nothing', async () => {
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

test('words side by side are all required where the default operator is AND', async () => {
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

test('usage counts the posts that came along, unless they are free', async () => {
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
