import { afterEach, describe, expect, test } from 'vitest';
import { type Answer, startAnsweringServer } from '../../../test/answering-server.ts';
import { createUpstreamClient } from '../client.ts';
import { UpstreamUnavailable } from '../upstream-rules.ts';
import { createXRules } from './rules.ts';

const never = { signal: new AbortController().signal, permit: () => Promise.resolve() };
const problems = 'https://api.twitter.com/2/problems';
let stack = new AsyncDisposableStack();
afterEach(async () => {
  await stack.disposeAsync();
  stack = new AsyncDisposableStack();
});

/** X's rules with a server that returns these answers in order. */
async function rulesThatAnswer(answers: readonly Answer[]) {
  const { url, asked } = stack.use(await startAnsweringServer(answers));
  const client = stack.use(createUpstreamClient({ baseUrl: url, token: 't', name: 'X' }));
  return { rules: createXRules(client), asked };
}

const add = (...values: string[]) => values.map((value) => ({ value, tag: `tag of ${value}` }));
const created = (id: string, value: string) => ({ id, value, tag: `tag of ${value}` });
const duplicate = { value: 'dog', id: '7', title: 'DuplicateRule', type: `${problems}/duplicate-rules` };
const invalid = {
  value: '-cat',
  details: ['Rules must contain a non-negation term (at position 1)'],
  title: 'UnprocessableEntity',
  type: `${problems}/invalid-rules`,
};

describe('adding rules', () => {
  test.each([200, 201])('created with %i', async (status) => {
    const { rules, asked } = await rulesThatAnswer([{ status, body: { data: [created('1', 'cat')] } }]);
    expect(await rules.add(add('cat'), never)).toEqual([{ kind: 'added', id: '1' }]);
    expect(asked).toEqual([{ add: [{ value: 'cat', tag: 'tag of cat' }] }]);
  });

  test('that X normalises are recognised by their tags', async () => {
    const { rules } = await rulesThatAnswer([
      { status: 201, body: { data: [{ id: '1', value: '(cat)', tag: 'tag of  cat' }] } },
    ]);
    const [outcome] = await rules.add([{ value: ' cat', tag: 'tag of  cat' }], never);
    expect(outcome).toEqual({ kind: 'added', id: '1' });
  });

  test('a duplicate beside a valid one, in request order', async () => {
    const { rules } = await rulesThatAnswer([
      { status: 201, body: { data: [created('1', 'cat')], errors: [duplicate] } },
    ]);
    expect(await rules.add(add('dog', 'cat'), never)).toEqual([
      { kind: 'duplicate' },
      { kind: 'added', id: '1' },
    ]);
  });

  test.each(['api.x.com', 'api.twitter.com'])('the host %s of a problem does not matter', async (host) => {
    const type = `https://${host}/2/problems/duplicate-rules`;
    const { rules } = await rulesThatAnswer([{ status: 201, body: { errors: [{ ...duplicate, type }] } }]);
    expect(await rules.add(add('dog'), never)).toEqual([{ kind: 'duplicate' }]);
  });

  test.each([200, 400])('an invalid rule inside a %i is refused with the text of X', async (status) => {
    const { rules } = await rulesThatAnswer([{ status, body: { errors: [invalid] } }]);
    expect(await rules.add(add('-cat'), never)).toEqual([{ kind: 'refused', words: invalid.details[0] }]);
  });

  test('if only the invalid rule of a batch is named, the others are sent again in one call', async () => {
    const { rules, asked } = await rulesThatAnswer([
      { status: 200, body: { errors: [invalid] } },
      { status: 201, body: { data: [created('1', 'dog')], errors: [{ ...duplicate, value: 'cow' }] } },
    ]);
    expect(await rules.add(add('dog', '-cat', 'cow'), never)).toEqual([
      { kind: 'added', id: '1' },
      { kind: 'refused', words: invalid.details[0] },
      { kind: 'duplicate' },
    ]);
    expect(asked).toHaveLength(2);
  });

  test('if no rule of a batch is named, it is sent again in halves', async () => {
    const { rules, asked } = await rulesThatAnswer([
      { status: 200, body: {} },
      { status: 201, body: { data: [created('1', 'dog'), created('2', 'cat')] } },
      { status: 200, body: { errors: [{ detail: 'no cows' }] } },
    ]);
    expect(await rules.add(add('dog', 'cat', 'cow'), never)).toEqual([
      { kind: 'added', id: '1' },
      { kind: 'added', id: '2' },
      { kind: 'refused', words: 'no cows' },
    ]);
    expect(asked).toHaveLength(3);
  });

  test.each([
    [422, { title: 'RulesCapExceeded', type: `${problems}/rule-cap` }],
    [400, { errors: [{ title: 'RulesCapExceeded', type: `${problems}/rule-cap` }] }],
  ])('the cap is recognised in a %i, at any place', async (status, body) => {
    const { rules } = await rulesThatAnswer([{ status, body }]);
    expect(await rules.add(add('cat', 'dog'), never)).toEqual([
      { kind: 'full', words: 'RulesCapExceeded' },
      { kind: 'full', words: 'RulesCapExceeded' },
    ]);
  });

  test.each([
    [400, { title: 'Invalid Request', type: `${problems}/invalid-request`, detail: 'bad' }, 'bad'],
    [200, {}, 'no reason given'],
    [200, { errors: [{ errors: [{ message: 'deep' }] }] }, 'no reason given'],
  ])('a %i that names no rule refuses it: %j', async (status, body, words) => {
    const { rules } = await rulesThatAnswer([{ status, body }]);
    expect(await rules.add(add('cat'), never)).toEqual([{ kind: 'refused', words }]);
  });

  test.each([
    [401, { title: 'Unauthorized', type: 'about:blank' }, 60_000],
    [402, { title: 'CreditsDepleted' }, 60_000],
    [403, { title: 'SpendCapReached' }, 60_000],
    [429, { title: 'Too Many Requests', type: 'about:blank' }, null],
    [429, { errors: [{ code: 88, message: 'Rate limit exceeded' }] }, null],
    [503, {}, null],
  ])('a %i with %j leaves the outcome open', async (status, body, retryAfterMs) => {
    const { rules } = await rulesThatAnswer([{ status, body }]);
    await expect(rules.add(add('cat'), never)).rejects.toMatchObject({
      name: 'UpstreamUnavailable',
      retryAfterMs,
    });
  });
});

test('a refusal of the app keeps the text of X', async () => {
  const body = {
    title: 'Client Forbidden',
    reason: 'client-not-enrolled',
    detail: 'x'.repeat(5_000),
    type: `${problems}/client-forbidden`,
  };
  const { rules } = await rulesThatAnswer([{ status: 403, body }]);
  const error: unknown = await rules.add(add('cat'), never).catch((thrown: unknown) => thrown);
  if (!(error instanceof UpstreamUnavailable)) throw new Error('it was not refused');
  expect(error.blockedBy).toBe('credentials');
  expect(error.message).toMatch(/^X answered 403 to a rule call: Client Forbidden, client-not-enrolled, xxx/);
  expect(error.message.length).toBeLessThan(400);
});

describe('room', () => {
  const counts = (more: object) => ({
    data: {
      cap_per_client_app: '1000',
      client_app_rules_count: { client_app_id: '1', rule_count: 42 },
      ...more,
    },
  });

  test.each([
    ['the cap of the app', 200, counts({}), 958],
    ['numbers instead of strings', 200, counts({ cap_per_client_app: 50 }), 8],
    [
      'a project that is nearly full',
      200,
      counts({ cap_per_project: '1000', project_rules_count: '997' }),
      3,
    ],
    ['more rules than the cap', 200, counts({ cap_per_client_app: '40' }), 0],
    ['no cap', 200, { data: {} }, null],
    ['a cap that is not a number', 200, counts({ cap_per_client_app: 'many' }), null],
    ['a refusal', 403, { title: 'Forbidden' }, null],
  ])('%s', async (_, status, body, room) => {
    const { rules, asked } = await rulesThatAnswer([{ status, body }]);
    expect(await rules.room(never)).toBe(room);
    expect(asked).toEqual(['/2/tweets/search/stream/rules/counts']);
  });
});

describe('listing and removing', () => {
  test('all pages are read, with and without data', async () => {
    const { rules, asked } = await rulesThatAnswer([
      { status: 200, body: { data: [created('1', 'cat')], meta: { next_token: 'a b' } } },
      { status: 200, body: { data: [{ id: '2', value: 'dog' }], meta: {} } },
      { status: 200, body: { meta: {} } },
    ]);
    expect(await rules.list(never)).toEqual([created('1', 'cat'), { id: '2', value: 'dog', tag: null }]);
    expect(asked[1]).toContain('pagination_token=a%20b');
    expect(await rules.list(never)).toEqual([]);
  });

  test.each(['<html>', '', '[]', '{"data":7}', '{"data":[{"id":1}]}'])(
    'the list %s is rejected',
    async (text) => {
      const { rules } = await rulesThatAnswer([{ status: 200, text }]);
      await expect(rules.list(never)).rejects.toThrow(UpstreamUnavailable);
    },
  );

  test('missing rules count as removed', async () => {
    const miss = {
      title: 'Invalid Request',
      type: `${problems}/invalid-request`,
      errors: [{ message: 'x' }],
    };
    const body = { meta: { summary: { deleted: 0, not_deleted: 1 } }, errors: [miss] };
    const { rules, asked } = await rulesThatAnswer([{ status: 200, body }]);
    await rules.remove(['1'], never);
    expect(asked).toEqual([{ delete: { ids: ['1'] } }]);
  });

  test('a failing server leaves the outcome open', async () => {
    const { rules } = await rulesThatAnswer([]);
    await expect(rules.remove(['1'], never)).rejects.toThrow(UpstreamUnavailable);
  });
});
