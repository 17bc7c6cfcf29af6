import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Sandbox, startSandbox } from '../src/index.ts';
import { at, createClient, eventually, listAt, textAt, xRulesPath } from './client.ts';

vi.setConfig({ testTimeout: 30_000, hookTimeout: 30_000 });

let sandbox: Sandbox;
let client: ReturnType<typeof createClient>;

beforeEach(async () => {
  sandbox = await startSandbox({ ruleDelayMs: 0 });
  client = createClient(sandbox);
});
afterEach(() => sandbox.close());

describe('connecting', () => {
  test('answers 409 while the app has no rules', async () => {
    const stream = await client.openX();
    expect(stream.status).toBe(409);
    expect(await stream.body()).toMatchObject({
      title: 'ConnectionException',
      connection_issue: 'RuleConfigurationIssue',
      type: 'https://api.twitter.com/2/problems/streaming-connection',
    });
  });

  test('opens as chunked JSON with rate headers', async () => {
    await client.addXRules('fjord');
    const stream = await client.openX();
    expect(stream.status).toBe(200);
    expect(stream.headers.get('content-type')).toMatch(/^application\/json/);
    expect(stream.headers.get('transfer-encoding')).toBe('chunked');
    expect(stream.headers.get('x-rate-limit-limit')).toBe('50');
    expect(stream.headers.get('x-rate-limit-remaining')).toBe('49');
  });

  test('answers 429 TooManyConnections to a second socket and takes it once the first is gone', async () => {
    await client.addXRules('fjord');
    const first = await client.openX();
    const second = await client.openX();
    expect(second.status).toBe(429);
    expect(await second.body()).toMatchObject({ connection_issue: 'TooManyConnections' });
    first.close();
    const third = await eventually(
      () => client.openX(),
      ({ status }) => status === 200,
    );
    third.close();
  });

  test('answers 429 after 50 attempts in a window and opens again in the next one', async () => {
    await using fast = await startSandbox({ speed: 200 });
    const { openX } = createClient(fast);
    for (let attempt = 0; attempt < 50; attempt += 1) expect((await openX()).status).toBe(409);
    const refused = await openX();
    expect(refused.status).toBe(429);
    expect(await refused.body()).toMatchObject({ title: 'Too Many Requests' });
    await eventually(openX, ({ status }) => status === 409);
  });

  test.each(['backfill_minutes=2', 'tweet.fields=nothing', 'start_time=2026-01-01T00:00:00Z'])(
    'answers 400 to %s',
    async (query) => {
      await client.addXRules('fjord');
      const stream = await client.openX(`?${query}`);
      expect(stream.status).toBe(400);
      expect(await stream.body()).toMatchObject({ title: 'Invalid Request', errors: [{ parameters: {} }] });
    },
  );

  test('counts the connection of a gone client for connection_hold_ms', async () => {
    const app = { token: 'sandbox-x-token', knobs: { connectionHoldMs: 200_000 } };
    await using sticky = await startSandbox({ speed: 100, rateLimits: false, xApps: [app] });
    const other = createClient(sticky);
    await other.addXRules('fjord');
    (await other.openX()).close();
    await eventually(
      () => other.control('GET', '/x/state'),
      ({ body }) => at(body, 'connections', 'open') === 0,
    );
    expect((await other.openX()).status).toBe(429);
    await eventually(
      () => other.openX(),
      ({ status }) => status === 200,
    );
  });

  test('lets the new connection replace the old one with the knob', async () => {
    await using lax = await startSandbox({
      xApps: [{ token: 'sandbox-x-token', knobs: { secondConnection: 'replace' } }],
    });
    const other = createClient(lax);
    await other.addXRules('fjord');
    const first = await other.openX();
    expect((await other.openX()).status).toBe(200);
    await first.ended();
  });
});

describe('records', () => {
  test('end with CRLF and hold the default fields and the matching rules in id order', async () => {
    const added = await client.x('POST', xRulesPath, {
      add: [{ value: 'fjord', tag: 'sub:1' }, { value: 'ice OR fjord' }],
    });
    const ids = listAt(added.body, 'data').map((rule) => textAt(rule, 'id'));
    const stream = await client.openX();
    const [post] = await client.post('Aurora over the fjord #fjordlight');
    const line = await stream.line();
    expect(JSON.parse(line ?? '')).toEqual({
      data: {
        id: at(post, 'id'),
        text: 'Aurora over the fjord #fjordlight',
        edit_history_tweet_ids: [at(post, 'id')],
      },
      matching_rules: [{ id: ids[0], tag: 'sub:1' }, { id: ids[1] }],
    });
    expect(post).toEqual({
      id: expect.any(String),
      matching_rules: [{ token: 'sandbox-x-token', rule_ids: ids }],
      delivered: true,
    });
  });

  test('come between bare CRLF keep-alives', async () => {
    await using fast = await startSandbox({ speed: 1_000 });
    const other = createClient(fast);
    await other.addXRules('fjord');
    const stream = await other.openX();
    expect(await stream.line()).toBe('');
    expect(await stream.line()).toBe('');
    await other.post('fjord');
    expect(at(await stream.record(), 'data', 'text')).toBe('fjord');
  });

  test('have ids that contain their time', async () => {
    const beforeMs = Date.now();
    const [post] = await client.post('any');
    const madeAtMs = Number((BigInt(textAt(post, 'id')) >> 22n) + 1_288_834_974_657n);
    expect(madeAtMs).toBeGreaterThanOrEqual(beforeMs);
    expect(madeAtMs).toBeLessThanOrEqual(Date.now());
  });
});

describe('rule changes', () => {
  test('reach an open stream after the delay, both additions and removals', async () => {
    await using slow = await startSandbox({ ruleDelayMs: 1_500 });
    const other = createClient(slow);
    await other.addXRules('anchor');
    const stream = await other.openX();
    const [id] = await other.addXRules('fjord');
    const matches = async () => listAt((await other.post('fjord'))[0], 'matching_rules').length;
    expect(await matches()).toBe(0);
    await eventually(matches, (count) => count === 1);
    await other.x('POST', xRulesPath, { delete: { ids: [id] } });
    expect(await matches()).toBe(1);
    await eventually(matches, (count) => count === 0);
    stream.close();
  });

  test('are all applied to a new connection', async () => {
    await using slow = await startSandbox({ ruleDelayMs: 60_000 });
    const other = createClient(slow);
    await other.addXRules('anchor');
    const first = await other.openX();
    await other.addXRules('fjord');
    first.close();
    const second = await eventually(
      () => other.openX(),
      ({ status }) => status === 200,
    );
    await other.post('fjord');
    expect(at(await second.record(), 'data', 'text')).toBe('fjord');
  });

  test('leave the stream open when the last rule goes', async () => {
    const [id] = await client.addXRules('fjord');
    const stream = await client.openX();
    await client.x('POST', xRulesPath, { delete: { ids: [id] } });
    await client.post('fjord');
    await client.addXRules('ice');
    await client.post('ice');
    expect(at(await stream.record(), 'data', 'text')).toBe('ice');
  });
});

describe('the connections API', () => {
  test('lists open connections and kills them by id', async () => {
    await client.addXRules('fjord');
    const stream = await client.openX();
    const { body } = await client.x('GET', '/2/connections?endpoints=filtered_stream');
    const id = textAt(body, 'data', 0, 'id');
    const killed = await client.call('DELETE', '/2/connections', 'sandbox-x-token', { uuids: [id, 'other'] });
    expect(killed.body).toEqual({
      data: {
        successful_kills: 1,
        failed_kills: 1,
        results: [
          { uuid: id, success: true },
          { uuid: 'other', success: false, error_message: expect.any(String) },
        ],
      },
    });
    await stream.ended();
    const history = await client.x('GET', '/2/connections?status=inactive');
    expect(at(history.body, 'data', 0)).toMatchObject({ id, disconnect_reason: 'ForceDisconnect' });
    expect((await client.openX()).status).toBe(200);
  });

  test.each(['filtered_stream', 'all'])('kills every connection of %s', async (endpoint) => {
    await client.addXRules('fjord');
    const stream = await client.openX();
    const { body } = await client.x('DELETE', `/2/connections/${endpoint}`);
    expect(at(body, 'data', 'successful_kills')).toBe(1);
    await stream.ended();
  });
});
