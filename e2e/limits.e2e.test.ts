import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Api } from './src/api.ts';
import { type ServerUnderTest, startWorld, type World } from './src/world.ts';

const perMinute = 120;

let world: World;
let server: ServerUnderTest;

beforeAll(async () => {
  world = await startWorld();
  await world.admin.setPlanLimits('paid', { requests: perMinute, changes: 3 });
  server = await world.startServer({
    EARSHOT_SUPPORT_CONTACT: 'us@example.com',
    EARSHOT_SECRETS_KEY: randomBytes(32).toString('base64'),
  });
});
afterAll(() => world?.[Symbol.asyncDispose]());

const list = (api: Api) => api.call('GET', '/api.ListRules?limit=1');
/** A change that changes nothing. */
const change = (api: Api) => api.call('POST', '/api.DeleteRule', { rule_id: 'rule_unknown' });

/** Uses up the requests or changes that the key may send in a minute; returns the first refusal. */
async function exhaust(api: Api, ask = list): ReturnType<Api['call']> {
  // Two more requests are admitted each second; answers are faster than that even on a busy machine.
  for (let n = 0; n < 10 * perMinute; n++) {
    const answer = await ask(api);
    if (answer.status === 429) return answer;
  }
  throw new Error('the limit was never reached');
}

test.each([
  ['CreateKey', {}],
  ['CreateWebhook', { name: 'a', url: 'https://receiver.example/hook' }],
  ['CreateDigest', { name: 'a', schedule: { window_seconds: 60 }, recipients: { webhook_id: 'whk_1' } }],
  ['ReadMatches', { reader: 'a' }],
  ['CreateRule', { name: 'a', intent: 'a', platforms: ['x'], overrides: { x: 'comet' } }],
])('%s beyond the plan is refused without a time to retry', async (operation, request) => {
  const account = await world.newAccount();
  const full = { keys: 1, webhooks: 0, digests: 0, readers: 0, rules: 0 };
  await world.admin.setLimits(account.accountId, full);
  const refused = await server.api(account).call('POST', `/api.${operation}`, request);
  expect([refused.status, refused.json]).toMatchObject([429, { details: { reason: 'plan_limit' } }]);
  expect(refused.headers.get('retry-after')).toBeNull();
});

describe('requests', () => {
  test('every answer to a valid key reports the limits, and no other answer does', async () => {
    const api = server.api(await world.newAccount());
    const rateLimitHeaders = ({ headers }: { headers: Headers }) => [
      headers.get('ratelimit-policy'),
      headers.get('ratelimit'),
    ];
    const policies = '"default";q=120;w=60, "account";q=240;w=60';
    expect(rateLimitHeaders(await api.call('GET', '/api.ListRules'))).toEqual([
      policies,
      '"default";r=119;t=1, "account";r=239;t=1',
    ]);
    for (const bad of [
      await api.call('POST', '/matches', '{'),
      await api.call('POST', '/matches', { a: 1 }),
    ]) {
      expect(bad.status).toBe(400);
      expect(rateLimitHeaders(bad)).toEqual([
        policies,
        expect.stringMatching(/^"default";r=11[789];t=[12], "account";r=/),
      ]);
    }
    const changed = await change(api);
    expect(changed.status).toBe(404);
    expect(rateLimitHeaders(changed)).toEqual([
      `${policies}, "changes";q=3;w=60`,
      expect.stringContaining('"changes";r=2;t='),
    ]);
    const unknown = await fetch(new URL('/api.ListRules', server.url), {
      headers: { authorization: 'Bearer unknown' },
    });
    expect([unknown.status, ...rateLimitHeaders(unknown)]).toEqual([401, null, null]);
  });

  test('requests beyond the limit are refused with a time to retry, and then admitted again', async () => {
    const account = await world.newAccount();
    const api = server.api(account);
    const refused = await exhaust(api);
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(refused.headers.get('ratelimit')).toMatch(/^"default";r=0;t=(59|60), /);
    expect(refused.json).toMatchObject({
      code: 'resource_exhausted',
      details: { limit: perMinute, used: perMinute, contact: 'us@example.com' },
    });
    // Another key of the account and another account are not affected.
    const second = await world.admin.createKey({ accountId: account.accountId });
    expect(
      (await server.api({ ...account, key: second?.key ?? '' }).call('GET', '/api.ListRules')).status,
    ).toBe(200);
    expect((await server.api(await world.newAccount()).call('GET', '/api.ListRules')).status).toBe(200);
    await sleep(Number(refused.headers.get('retry-after')) * 1_000);
    expect((await api.call('GET', '/api.ListRules')).status).toBe(200);
  });

  test('requests beyond the limit are refused before their body is read', async () => {
    const account = await world.newAccount();
    // The next change is admitted only after 20 s. Other requests are admitted after half a second, which is too short on
    // a busy machine.
    await exhaust(server.api(account), change);
    const { hostname, port } = new URL(server.url);
    const socket = connect(Number(port), hostname);
    const head = [
      'POST /api.DeleteRule HTTP/1.1',
      'host: earshot',
      `authorization: Bearer ${account.key}`,
      'content-type: application/json',
      'content-length: 100000',
      'connection: close',
    ];
    // The body is never sent.
    socket.write(`${head.join('\r\n')}\r\n\r\n`);
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 429 /);
  });
});
