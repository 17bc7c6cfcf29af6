import { type ErrorCode, type ErrorEnvelope, errorCodes, errorSchema } from '@earshot/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Answer, Api } from './src/api.ts';
import { shareWorld } from './src/shared-world.ts';
import type { ServerUnderTest, World } from './src/world.ts';

/** Requests with a good key and something wrong in what they say. */
let world: World;
let server: ServerUnderTest;
let api: Api;

beforeAll(async () => {
  world = await shareWorld();
  server = await world.startServer();
  api = server.api(await world.newAccount());
});
afterAll(() => world?.[Symbol.asyncDispose]());

const unknownRule = 'rule_0000000000zzzzzzzzzzzzzzzz';
const newRule = {
  name: 'a name',
  intent: 'an intent',
  platforms: ['x', 'firehose'],
  overrides: { x: 'comet', firehose: 'title:comet' },
};
/** A body for each POST that is right in its form. */
const wellFormed: Readonly<Record<string, object>> = {
  '/api.CreateRule': newRule,
  '/api.DeleteRule': { rule_id: unknownRule },
  '/matches': {},
  '/notices': {},
  '/platforms/syntax': {},
};
const posts = Object.keys(wellFormed);

function expectError(answer: Answer, code: ErrorCode): ErrorEnvelope {
  const error = errorSchema.parse(answer.json);
  expect(error.code).toBe(code);
  expect(answer.status).toBe(errorCodes[code].status);
  expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
  expect(error.details.request_id).toBe(answer.headers.get('x-request-id'));
  expect(answer.text).not.toMatch(/node_modules|\.[jt]s:\d|\bat \w+ \(|\b(acc|key|slot)_/);
  return error;
}

describe.each(posts)('a body that %s cannot read', (path) => {
  const bodies: ReadonlyArray<readonly [string, string]> = [
    ['blank', '  \n'],
    ['cut off', '{"rule_id": "a'],
    ['a trailing comma', '{"rule_id": "a",}'],
    ['single quotes', "{'rule_id': 'a'}"],
    ['two documents', '{}{}'],
    ['NaN', '{"limit": NaN}'],
    ['an array', '[]'],
    ['a string', '"rule_1"'],
    ['a number', '1'],
    ['true', 'true'],
    ['null', 'null'],
    ['__proto__', '{"__proto__": {"limit": 1}}'],
    ['__proto__ in disguise', '{"\\u005f_proto__": {"limit": 1}}'],
    ['constructor.prototype', '{"constructor": {"prototype": {"limit": 1}}}'],
    ['__proto__ further in', '{"overrides": {"__proto__": {"x": "a"}}}'],
    ['100,000 nested arrays', '['.repeat(100_000) + ']'.repeat(100_000)],
    ['40,000 nested objects', `${'{"a":'.repeat(40_000)}1${'}'.repeat(40_000)}`],
  ];

  test.each(bodies)('%s', async (_, body) => {
    expectError(await api.call('POST', path, body), 'invalid_argument');
  });

  test.each([
    'text/plain',
    'text/json',
    'application/xml',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/json-patch+json',
    'application/jsonp',
    'json',
  ])('content type %s', async (contentType) => {
    const answer = await api.call('POST', path, wellFormed[path], { 'content-type': contentType });
    expect(expectError(answer, 'invalid_argument').message).toContain('application/json');
  });

  test('an unknown field is named', async () => {
    const answer = await api.call('POST', path, { ...wellFormed[path], platfrom: 'x' });
    expectViolation(answer, 'platfrom', 'unknown_field');
  });
});

test.each(['application/json', 'application/json; charset=utf-8', 'application/JSON;charset=UTF-8'])(
  'content type %s is accepted',
  async (contentType) => {
    const answer = await api.call('POST', '/platforms/syntax', {}, { 'content-type': contentType });
    expect(answer.status).toBe(200);
  },
);

test('bytes that are no UTF-8 are refused instead of being replaced', async () => {
  const { key } = await world.newAccount();
  const bytes = Buffer.from(JSON.stringify({ ...newRule, name: 'caf\u00e9' }), 'latin1');
  const response = await fetch(new URL('/api.CreateRule', server.url), {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: bytes,
  });
  const text = await response.text();
  const answer = { status: response.status, headers: response.headers, text, json: JSON.parse(text) };
  expectError(answer, 'invalid_argument');
});

/** Path, body, then the field and the code of a violation that the answer must name. */
type Wrong = readonly [path: string, field: string, code: string, body: object];

const create = (change: object) => ({ ...newRule, ...change });
const without = (field: string) =>
  Object.fromEntries(Object.entries(newRule).filter(([name]) => name !== field));

const missing: Wrong[] = [
  ...Object.keys(newRule).map((field): Wrong => ['/api.CreateRule', field, 'required', without(field)]),
  ['/api.DeleteRule', 'rule_id', 'required', {}],
];

/** For each field values that are not of its type. */
const wrongTypes: Wrong[] = [
  ...['name', 'intent'].flatMap((field) =>
    [1, null, true, ['a'], { a: 1 }].map(
      (value): Wrong => ['/api.CreateRule', field, 'wrong_type', create({ [field]: value })],
    ),
  ),
  ...[null, 'x', { x: true }, 1].map(
    (platforms): Wrong => ['/api.CreateRule', 'platforms', 'wrong_type', create({ platforms })],
  ),
  ...[null, 1, ['x'], 'X'].map(
    (entry): Wrong => [
      '/api.CreateRule',
      'platforms[0]',
      'invalid_value',
      create({ platforms: [entry], overrides: {} }),
    ],
  ),
  ...[null, 'comet', ['comet'], 1].map(
    (overrides): Wrong => ['/api.CreateRule', 'overrides', 'wrong_type', create({ overrides })],
  ),
  ...[null, 1, ['comet'], { value: 'comet' }].map(
    (x): Wrong => [
      '/api.CreateRule',
      'overrides.x',
      'wrong_type',
      create({ overrides: { ...newRule.overrides, x } }),
    ],
  ),
  ...[1, null, ['a'], {}].map((rule_id): Wrong => ['/api.DeleteRule', 'rule_id', 'wrong_type', { rule_id }]),
  ...['rule_id', 'cursor', 'since', 'until'].flatMap((field) =>
    [1, null, ['a'], {}].map((value): Wrong => ['/matches', field, 'wrong_type', { [field]: value }]),
  ),
  ...['limit', 'wait_seconds'].flatMap((field) =>
    ['10', null, [1], {}, true].map(
      (value): Wrong => ['/matches', field, 'wrong_type', { order: 'oldest', [field]: value }],
    ),
  ),
  ...[1, null, ['a'], {}].map((cursor): Wrong => ['/notices', 'cursor', 'wrong_type', { cursor }]),
  ...['limit', 'wait_seconds'].flatMap((field) =>
    ['10', null, [1], true].map(
      (value): Wrong => ['/notices', field, 'wrong_type', { order: 'oldest', [field]: value }],
    ),
  ),
  ...[1, null, ['newest']].map((order): Wrong => ['/notices', 'order', 'invalid_value', { order }]),
  ...[1, null, ['x'], {}].map((platform): Wrong => ['/matches', 'platform', 'invalid_value', { platform }]),
  ...[1, null, ['newest']].map((order): Wrong => ['/matches', 'order', 'invalid_value', { order }]),
  ...['x', null, 1].map(
    (platforms): Wrong => ['/platforms/syntax', 'platforms', 'wrong_type', { platforms }],
  ),
];

const wrongValues: Wrong[] = [
  ...['name', 'intent'].flatMap((field): Wrong[] => [
    ['/api.CreateRule', field, 'too_short', create({ [field]: '' })],
    ['/api.CreateRule', field, 'too_short', create({ [field]: ' \t\n\u3000' })],
    ['/api.CreateRule', field, 'invalid_value', create({ [field]: 'a\u0000b' })],
    ['/api.CreateRule', field, 'invalid_value', create({ [field]: 'half \ud83c' })],
  ]),
  ['/api.CreateRule', 'name', 'too_long', create({ name: 'n'.repeat(201) })],
  ['/api.CreateRule', 'intent', 'too_long', create({ intent: 'i'.repeat(2_001) })],
  ['/api.CreateRule', 'platforms', 'too_short', create({ platforms: [], overrides: {} })],
  ['/api.CreateRule', 'platforms[1]', 'duplicate', create({ platforms: ['x', 'x'] })],
  ['/api.CreateRule', 'platforms[1]', 'invalid_value', create({ platforms: ['x', 'twitter'] })],
  ['/api.CreateRule', 'overrides.firehose', 'missing_override', create({ overrides: { x: 'comet' } })],
  ['/api.CreateRule', 'overrides.firehose', 'extra_override', create({ platforms: ['x'] })],
  [
    '/api.CreateRule',
    'overrides.twitter',
    'extra_override',
    create({ overrides: { ...newRule.overrides, twitter: 'comet' } }),
  ],
  ['/api.CreateRule', 'overrides.x', 'too_short', create({ overrides: { ...newRule.overrides, x: ' ' } })],
  [
    '/api.CreateRule',
    'overrides.x',
    'too_long',
    create({ overrides: { ...newRule.overrides, x: 'a'.repeat(4_097) } }),
  ],
  ['/api.DeleteRule', 'rule_id', 'too_short', { rule_id: '' }],
  ['/api.DeleteRule', 'rule_id', 'too_long', { rule_id: 'r'.repeat(101) }],
  ['/api.DeleteRule', 'rule_id', 'invalid_value', { rule_id: 'rule_\u0000' }],
  ['/matches', 'platform', 'invalid_value', { platform: 'twitter' }],
  ['/matches', 'order', 'invalid_value', { order: 'best' }],
  ...[0, -1, 101, 1.5, 1e308].map((limit): Wrong => ['/matches', 'limit', 'invalid_value', { limit }]),
  ...[-1, 31, 0.5].map(
    (wait_seconds): Wrong => ['/matches', 'wait_seconds', 'invalid_value', { order: 'oldest', wait_seconds }],
  ),
  ['/matches', 'wait_seconds', 'invalid_value', { wait_seconds: 1 }],
  ['/matches', 'wait_seconds', 'invalid_value', { order: 'newest', wait_seconds: 1 }],
  ...[
    'yesterday',
    '2026-11-14',
    '2026-11-14T22:46:00',
    '2026-13-01T00:00:00Z',
    '1969-12-31T23:59:59Z',
  ].flatMap((time): Wrong[] => [
    ['/matches', 'since', 'invalid_value', { since: time }],
    ['/matches', 'until', 'invalid_value', { until: time }],
  ]),
  ['/matches', 'until', 'invalid_value', { since: '2026-11-14T00:00:00Z', until: '2026-11-14T00:00:00Z' }],
  ['/matches', 'cursor', 'invalid_value', { cursor: 'AAAA' }],
  ['/matches', 'cursor', 'invalid_value', { cursor: 'A'.repeat(64) }],
  ['/matches', 'cursor', 'invalid_value', { cursor: '../../etc/passwd' }],
  ['/matches', 'cursor', 'too_long', { cursor: 'A'.repeat(1_025) }],
  ...[false, 'true', 1].map((open): Wrong => ['/notices', 'open', 'invalid_value', { open }]),
  ...[0, 101, 1.5].map((limit): Wrong => ['/notices', 'limit', 'invalid_value', { limit }]),
  ['/notices', 'wait_seconds', 'invalid_value', { order: 'oldest', wait_seconds: 31 }],
  ['/notices', 'wait_seconds', 'invalid_value', { wait_seconds: 1 }],
  ['/notices', 'order', 'invalid_value', { order: 'best' }],
  ['/notices', 'cursor', 'invalid_value', { cursor: 'AAAA' }],
  ['/notices', 'cursor', 'too_long', { cursor: 'A'.repeat(1_025) }],
  ['/platforms/syntax', 'platforms[0]', 'invalid_value', { platforms: ['twitter'] }],
  ['/platforms/syntax', 'platforms[1]', 'duplicate', { platforms: ['firehose', 'firehose'] }],
  ['/platforms/syntax', 'platforms', 'too_short', { platforms: [] }],
];

describe('a field that is missing', () => {
  test.each(missing)('%s: %s is %s', expectRefused);
});
describe('a field of the wrong type', () => {
  test.each(wrongTypes)('%s: %s is %s in %j', expectRefused);
});
describe('a field with a wrong value', () => {
  test.each(wrongValues)('%s: %s is %s in %j', expectRefused);
});

describe('a query of GET /api.ListRules', () => {
  test.each([
    ['limit', 'invalid_value', 'limit=0'],
    ['limit', 'invalid_value', 'limit=1001'],
    ['limit', 'invalid_value', 'limit=-1'],
    ['limit', 'invalid_value', 'limit=1e2'],
    ['limit', 'invalid_value', 'limit='],
    ['limit', 'invalid_value', 'limit=%zz'],
    ['limit', 'wrong_type', 'limit=1&limit=2'],
    ['cursor', 'too_short', 'cursor='],
    ['cursor', 'invalid_value', 'cursor=AAAA'],
    ['offset', 'unknown_field', 'offset=10'],
    ['__proto__', 'unknown_field', '__proto__=1'],
  ])('%s is %s in %s', async (field, code, query) => {
    expectViolation(await api.call('GET', `/api.ListRules?${query}`), field, code);
  });
});

describe('a cursor', () => {
  test('does not fit another filter, order or list', async () => {
    const { next_cursor } = await api.matches({ order: 'oldest', platform: 'x' });
    const use = (request: object) => api.call('POST', '/matches', { ...request, cursor: next_cursor });
    expect((await use({ order: 'oldest', platform: 'x', limit: 3 })).status).toBe(200);
    for (const other of [
      { order: 'oldest' },
      { order: 'oldest', platform: 'firehose' },
      { order: 'newest', platform: 'x' },
      { order: 'oldest', platform: 'x', since: '2026-01-01T00:00:00Z' },
    ]) {
      expectViolation(await use(other), 'cursor', 'invalid_value');
    }
    const elsewhere = await api.call('GET', `/api.ListRules?cursor=${next_cursor}`);
    expectViolation(elsewhere, 'cursor', 'invalid_value');
    const ofNotices = await api.call('POST', '/notices', { order: 'oldest', cursor: next_cursor });
    expectViolation(ofNotices, 'cursor', 'invalid_value');
  });

  test('is refused when a single character of it was changed', async () => {
    const cursor = (await api.matches({ order: 'oldest' })).next_cursor ?? '';
    for (let place = 0; place < cursor.length; place += 1) {
      const changed = cursor.slice(0, place) + (cursor[place] === 'A' ? 'B' : 'A') + cursor.slice(place + 1);
      const answer = await api.call('POST', '/matches', { order: 'oldest', cursor: changed });
      expectViolation(answer, 'cursor', 'invalid_value');
    }
  });
});

test.each([
  ['/api.DeleteRule', { rule_id: unknownRule }],
  ['/api.DeleteRule', { rule_id: "' or 1=1 --" }],
  ['/matches', { rule_id: unknownRule }],
  ['/matches', { rule_id: unknownRule, platform: 'x', order: 'oldest', wait_seconds: 30 }],
])('%s with an unknown rule in %j is not_found', async (path, body) => {
  expectError(await api.call('POST', path, body), 'not_found');
});

test('an account on the free plan is told that firehose needs a paid one, and that it may have no rule on x where its limit says so', async () => {
  const { accountId } = await world.admin.createAccount({ name: 'free', plan: 'free' });
  await world.admin.setLimits(accountId, { rules: 0 });
  const key = await world.admin.createKey({ accountId });
  const free = server.api({ accountId, keyId: '', key: '', ...key });
  const onFirehose = create({ platforms: ['firehose'], overrides: { firehose: 'title:comet' } });
  const denied = expectError(await free.call('POST', '/api.CreateRule', onFirehose), 'permission_denied');
  expect(denied.details).toMatchObject({ plan: 'free', platform: 'firehose' });
  const onX = create({ platforms: ['x'], overrides: { x: 'comet' } });
  const exhausted = expectError(await free.call('POST', '/api.CreateRule', onX), 'resource_exhausted');
  expect(exhausted.details).toMatchObject({ limit: 0, used: 0, platform: 'x' });
});

test('after all these refusals the account has no rule, and the upstreams neither', async () => {
  expect(await api.listRules()).toEqual({ rules: [], next_cursor: null });
  expect((await world.sandbox.xState('world-x-token')).rules).toEqual([]);
  expect((await world.sandbox.firehoseState('fh_world')).rules).toEqual([]);
});

async function expectRefused(...[path, field, code, body]: Wrong) {
  expectViolation(await api.call('POST', path, body), field, code);
}

function expectViolation(answer: Answer, field: string, code: string) {
  const { details } = expectError(answer, 'invalid_argument');
  expect(details.violations).toContainEqual(expect.objectContaining({ field, code }));
}
