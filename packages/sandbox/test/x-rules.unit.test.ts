import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Sandbox, startSandbox } from '../src/index.ts';
import { at, createClient, listAt, textAt, xRulesPath } from './client.ts';

vi.setConfig({ testTimeout: 30_000, hookTimeout: 30_000 });

let sandbox: Sandbox;
let client: ReturnType<typeof createClient>;

beforeEach(async () => {
  sandbox = await startSandbox({ xApps: [{ token: 'sandbox-x-token', ruleCap: 5 }] });
  client = createClient(sandbox);
});
afterEach(() => sandbox.close());

const add = (...rules: object[]) => client.x('POST', xRulesPath, { add: rules });

describe('adding rules', () => {
  test('answers 201 with ids, tags and a summary', async () => {
    const { status, body } = await add(
      { value: 'fjord has:images', tag: 'sub:7f3a' },
      { value: 'from:90210021' },
    );
    expect(status).toBe(201);
    expect(body).toEqual({
      data: [
        { id: expect.stringMatching(/^[0-9]{19}$/), value: 'fjord has:images', tag: 'sub:7f3a' },
        { id: expect.stringMatching(/^[0-9]{19}$/), value: 'from:90210021' },
      ],
      meta: {
        sent: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        summary: { created: 2, not_created: 0, valid: 2, invalid: 0 },
      },
    });
  });

  test('answers 201 without data if the rule exists, and names it', async () => {
    const first = await add({ value: 'fjord', tag: 'one' });
    const { status, body } = await add({ value: 'fjord', tag: 'two' });
    expect(status).toBe(201);
    expect(body).not.toHaveProperty('data');
    expect(at(body, 'meta', 'summary')).toEqual({ created: 0, not_created: 1, valid: 0, invalid: 1 });
    expect(at(body, 'errors')).toEqual([
      {
        value: 'fjord',
        id: at(first.body, 'data', 0, 'id'),
        title: 'DuplicateRule',
        type: 'https://api.twitter.com/2/problems/duplicate-rules',
      },
    ]);
  });

  test('counts two equal values in one batch as a rule and its duplicate', async () => {
    const { body } = await add({ value: 'fjord' }, { value: 'fjord' });
    expect(at(body, 'data')).toHaveLength(1);
    expect(at(body, 'errors', 0, 'id')).toBe(at(body, 'data', 0, 'id'));
  });

  test('treats queries that differ in white space as different rules', async () => {
    const { body } = await add({ value: 'a1 b1' }, { value: 'a1  b1' });
    expect(at(body, 'meta', 'summary', 'created')).toBe(2);
  });

  test('answers 200 when every rule is invalid', async () => {
    const { status, body } = await add({ value: '-fjord' });
    expect(status).toBe(200);
    expect(at(body, 'meta', 'summary')).toEqual({ created: 0, not_created: 1, valid: 0, invalid: 1 });
    expect(at(body, 'errors')).toEqual([
      {
        value: '-fjord',
        details: [
          'Rules must contain a non-negation term (at position 1)',
          'Rules must contain at least one positive, non-stopword clause (at position 1)',
        ],
        title: 'UnprocessableEntity',
        type: 'https://api.twitter.com/2/problems/invalid-rules',
      },
    ]);
  });

  test('creates the valid rules of a mixed batch', async () => {
    const { status, body } = await add({ value: 'fjord' }, { value: '(ice' });
    expect(status).toBe(201);
    expect(at(body, 'data')).toHaveLength(1);
    expect(at(body, 'errors')).toHaveLength(1);
  });

  test('answers 422 beyond the cap and creates nothing', async () => {
    const values = ['a1', 'b1', 'c1', 'd1', 'e1', 'f1'].map((value) => ({ value }));
    const { status, body } = await add(...values);
    expect(status).toBe(422);
    expect(body).toMatchObject({ title: 'RulesCapExceeded', type: expect.stringMatching(/rule-cap$/) });
    expect(at((await client.x('GET', xRulesPath)).body, 'meta', 'result_count')).toBe(0);
  });

  test('answers a dry run like a success and changes nothing', async () => {
    const { status, body } = await client.x('POST', `${xRulesPath}?dry_run=true`, {
      add: [{ value: 'fjord' }],
    });
    expect(status).toBe(201);
    expect(at(body, 'meta', 'summary', 'created')).toBe(1);
    expect(at((await client.x('GET', xRulesPath)).body, 'meta', 'result_count')).toBe(0);
  });

  test.each([
    ['add and delete together', { add: [{ value: 'a1' }], delete: { ids: ['1'] } }],
    ['an unknown key', { ad: [{ value: 'a1' }] }],
    ['an empty body', {}],
    ['an empty list', { add: [] }],
    ['a rule with an unknown field', { add: [{ value: 'a1', note: 'x' }] }],
    ['a rule without a value', { add: [{ tag: 'x' }] }],
    ['ids and values together', { delete: { ids: ['1'], values: ['a1'] } }],
    ['an id that is not numeric', { delete: { ids: ['abc'] } }],
  ])('answers 400 to %s', async (_case, body) => {
    const answer = await client.x('POST', xRulesPath, body);
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({
      title: 'Invalid Request',
      type: expect.stringMatching(/invalid-request$/),
    });
  });
});

describe('deleting rules', () => {
  test('works by id and by value', async () => {
    const [first] = await client.addXRules('fjord', 'ice');
    const byId = await client.x('POST', xRulesPath, { delete: { ids: [first] } });
    expect(byId.status).toBe(200);
    expect(byId.body).toEqual({
      meta: { sent: expect.any(String), summary: { deleted: 1, not_deleted: 0 } },
    });
    const byValue = await client.x('POST', xRulesPath, { delete: { values: ['ice'] } });
    expect(at(byValue.body, 'meta', 'summary')).toEqual({ deleted: 1, not_deleted: 0 });
    expect((await client.x('GET', xRulesPath)).body).not.toHaveProperty('data');
  });

  test('removes what exists and reports what does not', async () => {
    const [id] = await client.addXRules('fjord');
    const { status, body } = await client.x('POST', xRulesPath, { delete: { ids: [id, '77'] } });
    expect(status).toBe(200);
    expect(at(body, 'meta', 'summary')).toEqual({ deleted: 1, not_deleted: 1 });
    expect(at(body, 'errors', 0)).toMatchObject({ title: 'Invalid Request', errors: [{ parameters: {} }] });
  });

  test('changes nothing on a dry run', async () => {
    const [id] = await client.addXRules('fjord');
    const { body } = await client.x('POST', `${xRulesPath}?dry_run=true`, { delete: { ids: [id] } });
    expect(at(body, 'meta', 'summary', 'deleted')).toBe(1);
    expect(at((await client.x('GET', xRulesPath)).body, 'meta', 'result_count')).toBe(1);
  });

  test('removes everything with delete_all', async () => {
    await client.addXRules('fjord', 'ice');
    const { body } = await client.x('POST', `${xRulesPath}?delete_all=true`, {});
    expect(at(body, 'meta', 'summary')).toEqual({ deleted: 2, not_deleted: 0 });
  });
});

describe('listing and counting rules', () => {
  test('omits data if there are no rules', async () => {
    const { status, body } = await client.x('GET', xRulesPath);
    expect(status).toBe(200);
    expect(body).toEqual({ meta: { sent: expect.any(String), result_count: 0 } });
  });

  test('pages with tokens of 16 characters, and lists every rule once', async () => {
    const ids = await client.addXRules('a1', 'b1', 'c1', 'd1', 'e1');
    const seen: string[] = [];
    let query = '?max_results=2';
    for (;;) {
      const { body } = await client.x('GET', `${xRulesPath}${query}`);
      seen.push(...listAt(body, 'data').map((rule) => textAt(rule, 'id')));
      const token = at(body, 'meta', 'next_token');
      if (token === undefined) break;
      expect(token).toMatch(/^[0-9A-V]{16}$/);
      query = `?max_results=2&pagination_token=${textAt(body, 'meta', 'next_token')}`;
    }
    expect(seen).toEqual(ids);
  });

  test('selects by ids', async () => {
    const [, second] = await client.addXRules('a1', 'b1');
    const { body } = await client.x('GET', `${xRulesPath}?ids=${second}`);
    expect(at(body, 'data')).toEqual([{ id: second, value: 'b1' }]);
  });

  test('counts with caps as strings', async () => {
    await client.addXRules('a1', 'b1');
    const { body } = await client.x('GET', `${xRulesPath}/counts`);
    expect(at(body, 'data')).toMatchObject({
      cap_per_client_app: '5',
      project_rules_count: '2',
      client_app_rules_count: { rule_count: 2 },
    });
  });
});

describe('access', () => {
  test('answers 401 to an unknown token', async () => {
    const { status, body } = await client.call('GET', xRulesPath, 'unknown');
    expect(status).toBe(401);
    expect(body).toMatchObject({ title: 'Unauthorized', type: 'about:blank', status: 401 });
  });

  test.each([
    ['free', 403, 'Client Forbidden'],
    ['out_of_credit', 402, 'CreditsDepleted'],
    ['spend_cap', 403, 'SpendCapReached'],
  ])('refuses the plan %s', async (plan, status, title) => {
    await client.control('POST', '/x/plan', { plan });
    expect(await client.x('GET', xRulesPath)).toMatchObject({ status, body: { title } });
  });

  test('reports the remaining calls and answers 429 without any', async () => {
    await client.x('POST', xRulesPath, {});
    const listed = await client.x('GET', xRulesPath);
    expect(listed.headers.get('x-rate-limit-limit')).toBe('450');
    expect(listed.headers.get('x-rate-limit-remaining')).toBe('449');
    for (let call = 1; call < 100; call += 1) await client.x('POST', xRulesPath, {});
    const refused = await client.x('POST', xRulesPath, {});
    expect(refused).toMatchObject({ status: 429, body: { title: 'Too Many Requests' } });
    const resetMs = Number(refused.headers.get('x-rate-limit-reset')) * 1_000;
    expect(resetMs).toBeGreaterThan(Date.now());
    expect(resetMs).toBeLessThanOrEqual(Date.now() + 15 * 60_000 + 1_000);
  });
});

test('two apps do not see each other’s rules', async () => {
  await using both = await startSandbox({ xApps: [{ token: 'one' }, { token: 'two' }] });
  const { call } = createClient(both);
  await call('POST', xRulesPath, 'one', { add: [{ value: 'fjord' }] });
  expect(at((await call('GET', xRulesPath, 'one')).body, 'meta', 'result_count')).toBe(1);
  expect(at((await call('GET', xRulesPath, 'two')).body, 'meta', 'result_count')).toBe(0);
});

test('knobs make an app reject a whole batch, hide duplicate ids and use the new host', async () => {
  const app = {
    token: 'sandbox-x-token',
    knobs: { batchPolicy: 'all_or_nothing', duplicates: 'without_id' },
    problemHost: 'api.x.com',
  } as const;
  await using strict = await startSandbox({ xApps: [app] });
  const strictClient = createClient(strict);
  const rejected = await strictClient.x('POST', xRulesPath, { add: [{ value: 'fjord' }, { value: '-ice' }] });
  expect(rejected.status).toBe(200);
  expect(at(rejected.body, 'meta', 'summary')).toEqual({ created: 0, not_created: 2, valid: 1, invalid: 1 });
  await strictClient.addXRules('fjord');
  const { body } = await strictClient.x('POST', xRulesPath, { add: [{ value: 'fjord' }] });
  expect(at(body, 'errors', 0)).not.toHaveProperty('id');
  expect(at(body, 'errors', 0, 'type')).toBe('https://api.x.com/2/problems/duplicate-rules');
});
