import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
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

describe('the test vectors of x.md, appendix B', () => {
  test.each([
    'glacier',
    'glacier lake',
    'glacier OR lake ice',
    '(glacier OR lake) ice -is:retweet',
    'glacier OR lake -is:retweet',
    '"blue ice"~3',
    'glacier -(lake OR ice)',
    'glacier "and" lake',
    'glacier or lake',
    '(glacier OR lake) sample:10',
    'bounding_box:[-22.1 64.0 -21.7 64.2]',
    'context:47.* glacier',
    'context:*.10045225402',
    'context:47.10045225402',
    'x'.repeat(1_024),
  ])('%s is created as it was written', async (value) => {
    const { status, body } = await add(value);
    expect(status).toBe(201);
    expect(body).not.toHaveProperty('errors');
    expect(at(body, 'data')).toEqual([{ id: expect.any(String), value }]);
  });

  test.each([
    ['"blue ice"~7', "Cannot parse rule at '~7' (position 11)"],
    ['has:media', 'cannot be used as a standalone operator (at position 1)'],
    ['has:media lang:is', 'cannot be used as a standalone operator (at position 1)'],
    ['-glacier', 'Rules must contain a non-negation term (at position 1)'],
    ['glacier OR -lake', 'Rules must contain a non-negation term (at position 12)'],
    ['glacier -(lake ice)', '(at position 9)'],
    ['glacier AND lake', 'Ambiguous use of and as a keyword'],
    ['glacier and lake', 'Ambiguous use of and as a keyword'],
    ['is:nullcast glacier', '(at position 1)'],
    ['glacier -sample:10', '(at position 9)'],
    ['glacier OR lake sample:10', 'must be grouped in parentheses'],
    ['glacier sample:0', "Cannot parse rule at '0'"],
    ['glacier sample:101', "Cannot parse rule at '101'"],
    ['glacier sample:1.5', "Cannot parse rule at '1.5'"],
    ['-embedding:"melting ice sheets"', 'Rules must contain a non-negation term'],
    ['embedding_threshold:0.4', "Reference to invalid operator 'embedding_threshold'"],
    [embeddingRule, "Reference to invalid operator 'embedding'"],
    ['bounding_box:[-22.1,64.0,-21.7,64.2]', 'Cannot parse rule at'],
    ['point_radius:[-21.9 64.1 30mi]', 'Cannot parse rule at'],
    ['followers_count:1000..500 glacier', 'Cannot parse rule at'],
    ['from:acme_sky,acme_ice', 'Cannot parse rule at'],
    ['from:@acme_sky', 'Cannot parse rule at'],
    ['coca-cola', "no viable alternative at input 'coca-cola' (at position 1)"],
    ["'blue ice'", "no viable alternative at character ''' (at position 1)"],
    ['(glacier', "mismatched input 'EOF' expecting ')' (at position 9)"],
    ['glacier)', "missing EOF at ')' (at position 8)"],
    ['()', "no viable alternative at input '()'"],
    ['lang:en lang:de glacier', '(at position 9)'],
    ['lang:xx glacier', "Cannot parse rule at 'xx' (position 6)"],
    ['contains:glac', "Reference to invalid operator 'contains'"],
    ['x'.repeat(1_025), '(at position 1025)'],
    ['', '(at position 1)'],
  ])('%s is refused: %s', async (value, stem) => {
    const { status, body } = await add(value);
    expect(status).toBe(200);
    expect(body).not.toHaveProperty('data');
    expect(at(body, 'errors')).toEqual([
      {
        value,
        details: expect.any(Array),
        title: 'UnprocessableEntity',
        type: 'https://api.twitter.com/2/problems/invalid-rules',
      },
    ]);
    expect(listAt(body, 'errors', 0, 'details').join('\n')).toContain(stem);
  });
});

test('longer rules and more operators come with the plan', async () => {
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
