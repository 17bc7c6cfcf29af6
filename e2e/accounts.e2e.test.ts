import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { Match } from '@earshot/contract';
import { compileCache } from '@earshot/engines';
import { eventually } from '@earshot/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Api } from './src/api.ts';
import { cookieIn, sendAsBrowser } from './src/browser-requests.ts';
import { startReceiver } from './src/webhook-receiver.ts';
import { type Account, type ServerUnderTest, startWorld, type World, xToken } from './src/world.ts';

const main = join(import.meta.dirname, '../apps/cli/src/main.ts');
const within = { timeoutMs: 60_000 };
const env = {
  EARSHOT_SECRETS_KEY: randomBytes(32).toString('base64'),
  EARSHOT_TEST: 'allowInsecureWebhooks=true,upstreamPace=1000',
};

let world: World;
let server: ServerUnderTest;
beforeAll(async () => {
  world = await startWorld({ sandbox: { rateLimits: false } });
  await world.admin.setPlanLimits('free', { changes: 1_000 });
  server = await world.startServer(env);
});
afterAll(() => world?.[Symbol.asyncDispose]());

function accounts(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const cliEnv = { ...compileCache(), PATH: process.env['PATH'], ...world.logins };
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [main, 'admin', 'accounts', ...args],
      { env: cliEnv },
      (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
      },
    );
  });
}

const accountsJson = async (...args: string[]) => {
  const { code, stdout, stderr } = await accounts(...args, '--json');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout);
};

const upstreamValues = async () =>
  (await world.sandbox.xState(xToken)).rules.map(({ value }) => value).toSorted();

const textsOf = async (api: Api) =>
  (await api.allMatches({ order: 'oldest' })).map(({ payload }) => String(payload.text));

const textsIn = ({ messages }: Awaited<ReturnType<typeof startReceiver>>) =>
  messages
    .flatMap(({ body }) => (JSON.parse(body) as { matches: Match[] }).matches)
    .map(({ payload }) => String(payload.text));

async function newAccount(plan: 'free' | 'paid'): Promise<Account> {
  const { accountId } = await world.admin.createAccount({ name: `${plan} account`, plan });
  const created = await world.admin.createKey({ accountId });
  return { accountId, keyId: created?.keyId ?? '', key: created?.key ?? '' };
}

describe('plans', () => {
  test('a free plan has a few rules on X, and more if the operator changes the limit', async () => {
    const account = await newAccount('free');
    const api = server.api(account);
    for (const value of ['almond', 'beech', 'cherry']) await api.createRule({ x: value });
    await expect(api.createRule({ x: 'damson' })).rejects.toThrow('3 of 3 rules');
    const limits = await accountsJson('limits', account.accountId, '--rules', '4', '--webhooks', '0');
    expect(limits).toEqual({ account_id: account.accountId, limits: { rules: 4, webhooks: 0 } });
    await eventually(() => api.createRule({ x: 'damson' }), { timeoutMs: 5_000 });
    await expect(api.createRule({ firehose: 'elder' })).rejects.toThrow('need a paid plan');

    expect(await accountsJson('plan', account.accountId, 'paid')).toMatchObject({ plan: 'paid' });
    await eventually(() => api.createRule({ firehose: 'elder' }), { timeoutMs: 5_000 });
    // The account's own limit is also above the limit of the new plan.
    await expect(api.createRule({ x: 'fig' })).rejects.toThrow('4 of 4 rules');
    await world.admin.setLimits(account.accountId, { rules: null });
    await eventually(() => api.createRule({ x: 'fig' }), { timeoutMs: 5_000 });

    expect(await accountsJson('show', account.accountId)).toMatchObject({
      id: account.accountId,
      plan: 'paid',
      state: 'active',
      limits: { webhooks: 0 },
      rules_active: 6,
      keys: 1,
    });
    expect((await accounts('list')).stdout).toMatch(
      new RegExp(`^${account.accountId} +paid +active +6 +1 +0 +0\\.00 +free account$`, 'm'),
    );
    for (const { id } of (await api.listRules()).rules) await api.deleteRule(id);
    await eventually(async () => expect(await upstreamValues()).toEqual([]), within);
  });
});

describe('a suspended account', () => {
  test('stops within seconds, and continues where it stopped after it is resumed', async () => {
    await using receiver = await startReceiver();
    await using othersReceiver = await startReceiver();
    const account = await newAccount('paid');
    const api = server.api(account);
    const running = [await api.createRule({ x: 'quince' }), await api.createRule({ x: 'rowan' })];
    const { rule_id: paused } = await api.createRule({ x: 'sloe' });
    await api.pauseRule(paused);
    const hook = await api.call('POST', '/api.CreateWebhook', { name: 'all', url: receiver.url });
    const { webhook_id } = hook.json as { webhook_id: string };
    expect((await api.call('POST', '/api.UpdateWebhook', { webhook_id, state: 'paused' })).status).toBe(200);
    const other = server.api(await newAccount('paid'));
    await other.createRule({ x: 'quince' });
    await other.call('POST', '/api.CreateWebhook', { name: 'all', url: othersReceiver.url });
    await world.sandbox.posts(['quince one', 'rowan one']);
    await eventually(async () => expect(await textsOf(api)).toHaveLength(2), within);

    const stream = fetch(new URL('/matches/stream', server.url), {
      headers: { authorization: `Bearer ${account.key}` },
    }).then((response) => response.text());
    expect(await accountsJson('suspend', account.accountId)).toMatchObject({ state: 'suspended' });
    await eventually(
      async () =>
        expect(await api.call('GET', '/api.ListRules')).toMatchObject({
          status: 403,
          json: { code: 'permission_denied', message: expect.stringContaining('The account is suspended') },
        }),
      { timeoutMs: 5_000 },
    );
    await stream;
    // The other account keeps the upstream rule that both share.
    await eventually(async () => expect(await upstreamValues()).toEqual(['quince']), within);
    // There are matches to send, and the senders check all webhooks at once.
    await world.database.query(`update webhooks set state = 'active' where id = $1`, [webhook_id]);
    await world.sandbox.posts(['quince two', 'rowan two']);
    await eventually(() => expect(textsIn(othersReceiver)).toEqual(['quince one', 'quince two']), within);
    expect(receiver.messages).toEqual([]);
    expect(await accountsJson('show', account.accountId)).toMatchObject({
      state: 'suspended',
      rules_active: 0,
      rules_paused: 3,
      matches: 2,
    });
    await world.admin.suspendAccount(account.accountId);

    expect(await accountsJson('resume', account.accountId)).toMatchObject({ state: 'active' });
    await world.admin.resumeAccount(account.accountId);
    await eventually(async () => {
      const { rules } = await api.listRules();
      expect(rules.map(({ state }) => state)).toEqual(['paused', 'active', 'active']);
    }, within);
    expect(await upstreamValues()).toEqual(['quince', 'rowan']);
    await world.sandbox.posts(['quince three', 'rowan three']);
    const all = ['quince one', 'quince three', 'rowan one', 'rowan three'];
    await eventually(async () => expect((await textsOf(api)).toSorted()).toEqual(all), within);
    await eventually(() => expect(textsIn(receiver).toSorted()).toEqual(all), within);

    const audit = await api.call('POST', '/api.ListAudit', { limit: 100 });
    const { entries } = audit.json as { entries: { actor: string; operation: string; target_id: string }[] };
    const byOperator = entries.filter(({ actor }) => actor === 'operator');
    const of = (operation: string) =>
      byOperator
        .filter((one) => one.operation === operation)
        .map(({ target_id }) => target_id)
        .toSorted();
    const touched = [account.accountId, ...running.map(({ rule_id }) => rule_id)].toSorted();
    expect(of('SuspendAccount')).toEqual(touched);
    expect(of('ResumeAccount')).toEqual(touched);
  });

  test('cannot use the console either, not even with an existing session', async () => {
    const account = await newAccount('paid');
    const { accountId, key } = account;
    const { origin } = new URL(server.url);
    const own = { origin, 'sec-fetch-site': 'same-origin', 'x-earshot-console': '1' };
    const signIn = () =>
      sendAsBrowser({
        to: server,
        path: '/console/session',
        headers: { ...own, 'content-type': 'application/json' },
        body: JSON.stringify({ key }),
      });
    const cookie = cookieIn(await signIn());
    const listRules = () =>
      sendAsBrowser({ to: server, method: 'GET', path: '/api.ListRules', headers: { ...own, cookie } });
    expect(await listRules()).toMatchObject({ status: 200 });
    await world.admin.suspendAccount(accountId);
    const refused = { status: 403, text: expect.stringContaining('The account is suspended') };
    expect(await listRules()).toMatchObject(refused);
    // A node caches a key for some seconds. Each sign-in until then would end the oldest of many sessions.
    const keyStatus = async () => (await server.api(account).call('GET', '/api.ListRules')).status;
    await eventually(async () => expect(await keyStatus()).toBe(403), { timeoutMs: 5_000 });
    expect(await signIn()).toMatchObject(refused);
    await world.admin.resumeAccount(accountId);
    expect(await listRules()).toMatchObject({ status: 200 });
  });
});
