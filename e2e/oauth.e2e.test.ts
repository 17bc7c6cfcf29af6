import { createEarshot } from '@earshot/sdk';
import { eventually } from '@earshot/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  authorizeIn,
  type Browser,
  bodyOf,
  callback,
  createProgram,
  listTools,
  locationOf,
  newPkce,
  openBrowser,
  startAuthorizing,
  type Tokens,
  tokensOf,
} from './src/oauth-parts.ts';
import { type Account, type ServerUnderTest, startWorld, type World } from './src/world.ts';

let world: World;
let server: ServerUnderTest;
let account: Account;
let browser: Browser;
let clientId: string;
beforeAll(async () => {
  world = await startWorld();
  server = await startAuthorizing(world);
  account = await world.newAccount('Owner');
  browser = openBrowser(server);
  await browser.signIn(account.key);
  clientId = String(bodyOf(await createProgram(server).register())['client_id']);
});
afterAll(() => world?.[Symbol.asyncDispose]());

async function authorized(decision: object = { decision: 'allow' }): Promise<Tokens> {
  const program = createProgram(server);
  const pkce = newPkce();
  const back = await authorizeIn(browser, program.authorizeUrl(clientId, pkce), decision);
  return tokensOf(await program.redeem(clientId, back.searchParams.get('code') ?? '', pkce.verifier));
}

describe('the page that asks', () => {
  const begin = async (inBrowser = browser) =>
    locationOf(await inBrowser.open(createProgram(server).authorizeUrl(clientId, newPkce())));

  test('is the console, and learns who asks for what', async () => {
    const page = await begin();
    expect(page).toMatch(/^\/console\/authorize\/[\w-]+$/);
    expect(bodyOf(await browser.request(page))).toEqual({
      client: { id: clientId, name: 'Program', uri: null, redirect_host: '127.0.0.1:7777' },
      scopes: ['rules:read', 'rules:write', 'matches:read'],
      account: { id: account.accountId, name: 'Owner' },
      expires_at: expect.any(String),
    });
  });

  test.each([
    ['no scope', ''],
    ['scopes that are not ours', 'openid offline_access'],
  ])('asks about all scopes for a program that names %s', async (_, scope) => {
    const program = createProgram(server);
    const registered = bodyOf(await program.register({ scope }));
    const asked = { scope, prompt: 'consent' };
    const url = program.authorizeUrl(String(registered['client_id']), newPkce(), asked);
    const page = locationOf(await browser.open(url));
    expect(bodyOf(await browser.request(page))).toMatchObject({
      scopes: ['rules:read', 'rules:write', 'matches:read'],
    });
  });

  test('waits until somebody has signed in', async () => {
    const another = openBrowser(server);
    const page = await begin(another);
    expect((await another.request(page)).status).toBe(401);
    expect((await another.decide(page, { decision: 'allow' })).status).toBe(401);
    await another.signIn(account.key);
    expect((await another.request(page)).status).toBe(200);
  });

  test('tells the program of a refusal', async () => {
    const page = await begin();
    const { continue_url } = bodyOf(await browser.decide(page, { decision: 'refuse' }));
    expect(continue_url).toMatch(/^\/oauth\/auth\/[\w-]+$/);
    const back = new URL(locationOf(await browser.open(String(continue_url))));
    expect(back.origin + back.pathname).toBe(callback);
    expect(Object.fromEntries(back.searchParams)).toMatchObject({
      error: 'access_denied',
      state: 'some-state',
      iss: `${server.url}/oauth`,
    });
  });
});

test('an authorization is a key: listed with its client, and its tokens work on /mcp', async () => {
  const tokens = await authorized({ decision: 'allow', scopes: ['rules:read'], budget_usd_per_day: 3 });
  expect(tokens).toMatchObject({ scope: 'rules:read', expires_in: 3600 });
  const { keys } = await createEarshot({ url: server.url, key: account.key }).listKeys({});
  expect(keys[0]).toMatchObject({
    display: 'Program (OAuth)',
    scopes: ['rules:read'],
    budget: { period: 'day', usd: 3, on_reached: 'pause' },
    client: { id: clientId, name: 'Program' },
  });
  expect((await listTools(server, tokens.access_token)).status).toBe(200);
});

test('revoking its key ends a token within 5 s on every node, also one that has just seen it', async () => {
  const { access_token } = await authorized();
  const other = await world.startServer({ EARSHOT_PUBLIC_URL: server.url });
  const statuses = async () =>
    await Promise.all([server, other].map(async (node) => (await listTools(node, access_token)).status));
  expect(await statuses()).toEqual([200, 200]);
  const earshot = createEarshot({ url: server.url, key: account.key });
  const [grant] = (await earshot.listKeys({})).keys;
  await earshot.revokeKey({ key_id: grant?.id ?? '' });
  await eventually(async () => expect(await statuses()).toEqual([401, 401]), { timeoutMs: 5_000 });
  const { entries } = await earshot.listAudit({});
  expect(entries[0]).toMatchObject({ operation: 'RevokeKey', target_id: grant?.id, actor: account.keyId });
});

test('without EARSHOT_PUBLIC_URL there is no OAuth, and a 401 does not speak of it', async () => {
  const plain = await world.startServer();
  for (const path of [
    '/.well-known/oauth-protected-resource/mcp',
    '/oauth/auth',
    '/.well-known/oauth-authorization-server',
  ])
    expect((await openBrowser(plain).open(path)).status).toBe(404);
  const answer = await listTools(plain, '');
  expect([answer.status, answer.headers['www-authenticate']]).toEqual([401, 'Bearer']);
});
