import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type Sandbox, startSandbox } from '../src/index.ts';
import { at, createClient, listAt, textAt, xRulesPath } from './client.ts';

vi.setConfig({ testTimeout: 30_000, hookTimeout: 30_000 });

let sandbox: Sandbox;
let client: ReturnType<typeof createClient>;

beforeAll(async () => {
  const xApps = [
    { token: 'sandbox-x-token' },
    { token: 'enterprise', plan: 'enterprise' },
    { token: 'embedding', plan: 'embedding' },
  ] as const;
  sandbox = await startSandbox({ rateLimits: false, xApps });
  client = createClient(sandbox);
});
afterAll(() => sandbox.close());

const add = (value: string, token = 'sandbox-x-token') =>
  client.call('POST', xRulesPath, token, { add: [{ value }] });

const embeddingRule = 'embedding:"melting ice sheets" embedding_threshold:0.4';

test('a rule is created unchanged', async () => {
  const value = '(glacier OR lake)  ice -is:retweet';
  const { status, body } = await add(value);
  expect(status).toBe(201);
  expect(body).not.toHaveProperty('errors');
  expect(at(body, 'data')).toEqual([{ id: expect.any(String), value }]);
});

test('the plan allows longer rules and more operators', async () => {
  expect((await add('y'.repeat(2_048), 'enterprise')).status).toBe(201);
  expect((await add('y'.repeat(2_049), 'enterprise')).status).toBe(200);
  expect((await add(embeddingRule, 'enterprise')).status).toBe(200);
  expect((await add(embeddingRule, 'embedding')).status).toBe(201);
  await client.control('POST', '/x/plan?token=enterprise', { plan: 'embedding' });
  expect((await add(embeddingRule, 'enterprise')).status).toBe(201);
});

test('each post names the rules that it matches', async () => {
  await using fresh = await startSandbox();
  const other = createClient(fresh);
  const rules = [
    'ice OR glacier lake',
    '"blue ice"',
    '"blue ice"~2',
    'ice -is:retweet',
    'ice lang:de',
    'ice has:links url:"news.example"',
    '$ACME',
  ];
  const ids = await other.addXRules(...rules);
  const { body } = await other.control('POST', '/x/posts', {
    posts: [
      { text: 'blue ice' },
      { text: 'blue and cold ice', lang: 'de' },
      { text: 'only a lake' },
      { text: 'the lake below the glacier' },
      { text: 'RT ice', referenced_tweets: [{ type: 'retweeted', id: '7' }] },
      { text: 'ice at https://news.example/a and $acme' },
    ],
  });
  const matched = listAt(body, 'posts').map((post) => {
    const found = at(post, 'matching_rules', 0, 'rule_ids') ?? [];
    return listAt(found).map((id) => rules[ids.indexOf(String(id))]);
  });
  expect(matched).toEqual([
    ['ice OR glacier lake', '"blue ice"', '"blue ice"~2', 'ice -is:retweet'],
    ['ice OR glacier lake', '"blue ice"~2', 'ice -is:retweet', 'ice lang:de'],
    [],
    ['ice OR glacier lake'],
    ['ice OR glacier lake'],
    ['ice OR glacier lake', 'ice -is:retweet', 'ice has:links url:"news.example"', '$ACME'],
  ]);
});

test('a rule sees fields that the connection did not ask for', async () => {
  await using fresh = await startSandbox({ ruleDelayMs: 0 });
  const other = createClient(fresh);
  await other.addXRules('from:mira lang:de bio:"sea ice" #fjord');
  const stream = await other.openX();
  const author = { username: 'mira', description: 'I study sea ice.' };
  await other.control('POST', '/x/posts', { text: 'am #fjord', lang: 'de', author });
  const record = await stream.record();
  expect(textAt(record, 'data', 'text')).toBe('am #fjord');
  expect(record).not.toHaveProperty('includes');
  expect(at(record, 'data')).not.toHaveProperty('lang');
});
