import { createEarshot } from '@earshot/sdk';
import { eventually } from '@earshot/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Answered, sendAsBrowser } from './src/browser-requests.ts';
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
  type Pkce,
  startAuthorizing,
  type Tokens,
  tokensOf,
} from './src/oauth-parts.ts';
import { type Account, type ServerUnderTest, startWorld, type World } from './src/world.ts';

let world: World;
let server: ServerUnderTest;
/** A server on the same database with another address. */
let elsewhere: ServerUnderTest;
let account: Account;
let browser: Browser;
let program: ReturnType<typeof createProgram>;
let clientId: string;

beforeAll(async () => {
  world = await startWorld();
  server = await startAuthorizing(world);
  elsewhere = await startAuthorizing(world);
  program = createProgram(server);
  clientId = String(bodyOf(await program.register())['client_id']);
});
afterAll(() => world?.[Symbol.asyncDispose]());
beforeEach(async () => {
  account = await world.newAccount();
  browser = openBrowser(server);
  await browser.signIn(account.key);
});

const begin = async (more: Record<string, string> = {}, pkce: Pkce | null = newPkce()) =>
  await browser.open(program.authorizeUrl(clientId, pkce, more));

async function codeFor(pkce: Pkce, decision?: object): Promise<string> {
  const back = await authorizeIn(browser, program.authorizeUrl(clientId, pkce), decision);
  return back.searchParams.get('code') ?? '';
}

async function authorized(decision?: object): Promise<Tokens> {
  const pkce = newPkce();
  return tokensOf(await program.redeem(clientId, await codeFor(pkce, decision), pkce.verifier));
}

const works = async (token: string, on = server) => (await listTools(on, token)).status === 200;
const error = (answer: Answered) => [answer.status, bodyOf(answer)['error']];
const expectRefused = ({ status, headers, text }: Answered) => {
  expect([status, headers.location, headers['content-type']]).toEqual([
    400,
    undefined,
    'text/plain; charset=utf-8',
  ]);
  expect(text).toMatch(/^This request cannot be authorized: /);
};

test.each([
  ['its own', (url: string) => new URL(url).origin, 401],
  ['another', () => 'https://evil.example', 403],
])(
  'a request to /mcp without a token from %s origin gets an answer by its origin',
  async (_, originOf, status) => {
    const answer = await fetch(`${server.url}/mcp`, {
      method: 'POST',
      headers: { origin: originOf(server.url), 'content-type': 'application/json' },
      body: '{}',
    });
    expect(answer.status).toBe(status);
  },
);

describe('the authorization page', () => {
  const opened = async (inBrowser = browser) =>
    locationOf(await inBrowser.open(program.authorizeUrl(clientId, newPkce())));

  test('is the console, which shows the client and the requested scopes', async () => {
    const page = await opened();
    expect(page).toMatch(/^\/console\/authorize\/[\w-]+$/);
    expect(bodyOf(await browser.request(page))).toEqual({
      client: { id: clientId, name: 'Program', uri: null, redirect_host: '127.0.0.1:7777' },
      scopes: ['rules:read', 'rules:write', 'matches:read'],
      account: { id: account.accountId, name: 'test account' },
      expires_at: expect.any(String),
    });
  });

  test.each([
    ['no scope', ''],
    ['only unknown scopes', 'openid offline_access'],
  ])('requests approval of all scopes for a client that names %s', async (_, scope) => {
    const registered = bodyOf(await program.register({ scope }));
    const extra = { scope, prompt: 'consent' };
    const url = program.authorizeUrl(String(registered['client_id']), newPkce(), extra);
    const page = locationOf(await browser.open(url));
    expect(bodyOf(await browser.request(page))).toMatchObject({
      scopes: ['rules:read', 'rules:write', 'matches:read', 'matches:label', 'readers:write'],
    });
  });

  test('shows the name of a client without hidden characters and changes of direction', async () => {
    const { client_id } = bodyOf(await program.register({ client_name: 'Ear\u202eto\u200bhs\u2028 App' }));
    const page = locationOf(await browser.open(program.authorizeUrl(String(client_id), newPkce())));
    expect(bodyOf(await browser.request(page))).toMatchObject({ client: { name: 'Eartohs App' } });
  });

  test('waits until a user has signed in', async () => {
    const another = openBrowser(server);
    const page = await opened(another);
    expect((await another.request(page)).status).toBe(401);
    expect((await another.decide(page, { decision: 'allow' })).status).toBe(401);
    await another.signIn(account.key);
    expect((await another.request(page)).status).toBe(200);
  });

  test('reports a denial to the client', async () => {
    const page = await opened();
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

test('revoking its key ends a token within 5 s, even if it was just used', async () => {
  const { access_token } = await authorized();
  const status = async () => (await listTools(server, access_token)).status;
  expect(await status()).toBe(200);
  const earshot = createEarshot({ url: server.url, key: account.key });
  const [grant] = (await earshot.listKeys({})).keys;
  await earshot.revokeKey({ key_id: grant?.id ?? '' });
  await eventually(async () => expect(await status()).toBe(401), { timeoutMs: 5_000 });
  const { entries } = await earshot.listAudit({});
  expect(entries[0]).toMatchObject({ operation: 'RevokeKey', target_id: grant?.id, actor: account.keyId });
});

describe('an authorization code', () => {
  test('that is used twice is refused, and the tokens of the first use end', async () => {
    const pkce = newPkce();
    const code = await codeFor(pkce);
    const first = tokensOf(await program.redeem(clientId, code, pkce.verifier));
    expect(error(await program.redeem(clientId, code, pkce.verifier))).toEqual([400, 'invalid_grant']);
    expect(await works(first.access_token)).toBe(false);
    expect(error(await program.refresh(clientId, first.refresh_token))).toEqual([400, 'invalid_grant']);
    const { keys } = await createEarshot({ url: server.url, key: account.key }).listKeys({});
    expect(keys.map(({ id }) => id)).toEqual([account.keyId]);
  });

  test('with a wrong verifier is refused', async () => {
    const code = await codeFor(newPkce());
    expect(error(await program.redeem(clientId, code, newPkce().verifier))).toEqual([400, 'invalid_grant']);
  });

  test('with another redirect URI of the client is refused', async () => {
    const pkce = newPkce();
    const redirect_uri = 'http://127.0.0.1:8888/callback';
    const answer = await program.redeem(clientId, await codeFor(pkce), pkce.verifier, { redirect_uri });
    expect(error(answer)).toEqual([400, 'invalid_grant']);
  });

  test('of another client is refused', async () => {
    const pkce = newPkce();
    const other = String(bodyOf(await program.register())['client_id']);
    expect(error(await program.redeem(other, await codeFor(pkce), pkce.verifier))).toEqual([
      400,
      'invalid_grant',
    ]);
  });

  test('for another resource is refused', async () => {
    const pkce = newPkce();
    const resource = 'https://elsewhere.example/mcp';
    const answer = await program.redeem(clientId, await codeFor(pkce), pkce.verifier, { resource });
    expect(error(answer)).toEqual([400, 'invalid_target']);
  });

  test('that has expired is refused', async () => {
    const pkce = newPkce();
    const code = await codeFor(pkce);
    await world.database.query(
      `update oauth_artefacts set expires_at = now() where kind = 'AuthorizationCode' and account_id = $1`,
      [account.accountId],
    );
    expect(error(await program.redeem(clientId, code, pkce.verifier))).toEqual([400, 'invalid_grant']);
  });
});

describe('an authorization request', () => {
  test.each([
    ['of another host', 'https://evil.example/callback'],
    ['with another path', 'http://127.0.0.1:7777/callback/../evil'],
    ['with a longer query', `${callback}?next=https://evil.example`],
    ['with another name of this machine', 'http://127.0.0.1.evil.example/callback'],
  ])('with a redirect URI %s is refused without a redirect', async (_, redirect_uri) => {
    const answer = await begin({ redirect_uri });
    expect([answer.status, answer.headers.location]).toEqual([400, undefined]);
  });

  const plainPkce = { code_challenge_method: 'plain', code_challenge: newPkce().verifier };

  test.each<[string, Record<string, string>, (Pkce | null)?]>([
    ['for another resource', { resource: 'https://elsewhere.example/mcp' }],
    ['without PKCE', {}, null],
    ['with plain PKCE', plainPkce],
    ...['token', 'id_token', 'code token', 'code id_token', 'none'].map(
      (response_type): [string, Record<string, string>] => [
        `with the response type ${response_type}`,
        { response_type },
      ],
    ),
    ...['form_post', 'fragment', 'web_message'].map((response_mode): [string, Record<string, string>] => [
      `with the response mode ${response_mode}`,
      { response_mode },
    ]),
  ])('%s is refused in text, without a redirect to the client', async (_, more, pkce) => {
    expectRefused(await begin(more, pkce));
  });

  test('with prompt=none is refused, even if the client was approved before', async () => {
    await authorized();
    expectRefused(await begin({ prompt: 'none' }));
    // Without prompt=none, the user is prompted again.
    expect(locationOf(await begin())).toMatch(/^\/console\/authorize\//);
  });

  test('gets no address but our own, whatever host it names', async () => {
    const headers = {
      host: 'evil.example',
      'x-forwarded-host': 'evil.example',
      'x-forwarded-proto': 'https',
    };
    const path = '/.well-known/oauth-authorization-server';
    for (const target of [path, `${path}/oauth`, '/.well-known/oauth-protected-resource/mcp']) {
      const answer = await sendAsBrowser({ to: server, method: 'GET', path: target, headers });
      expect(answer.status).toBe(200);
      expect(answer.text).not.toContain('evil.example');
      expect(answer.text).toContain(server.url);
    }
    const { pathname, search } = new URL(program.authorizeUrl(clientId, newPkce()));
    const answer = await sendAsBrowser({ to: server, method: 'GET', path: pathname + search, headers });
    expect(locationOf(answer)).toMatch(/^\/console\/authorize\//);
  });
});

describe('a decision', () => {
  const allow = { decision: 'allow' };

  test("by the victim about an attacker's request in another browser is refused", async () => {
    const attacker = openBrowser(server);
    const page = locationOf(await attacker.open(program.authorizeUrl(clientId, newPkce())));
    for (const answer of [await browser.request(page), await browser.decide(page, allow)])
      expect(bodyOf(answer)).toMatchObject({ code: 'not_found' });
    // Nor with the cookie of the victim's own request.
    const own = locationOf(await begin());
    const cookies = await browser.decide(own.replace(/[^/]+$/, page.split('/').at(-1) ?? ''), allow);
    expect(cookies.status).toBe(404);
    // The attacker's request leads nowhere.
    const next = await attacker.open(`/oauth/auth/${page.split('/').at(-1)}`);
    expect(locationOf(next)).toMatch(/^\/console\/authorize\//);
  });

  test.each([
    [
      'another site',
      { 'sec-fetch-site': 'cross-site', 'x-earshot-console': '1', 'content-type': 'application/json' },
    ],
    [
      'a neighbouring host',
      { 'sec-fetch-site': 'same-site', 'x-earshot-console': '1', 'content-type': 'application/json' },
    ],
    ['a form', { 'sec-fetch-site': 'same-origin', 'content-type': 'application/x-www-form-urlencoded' }],
    [
      'a page of another origin',
      { origin: 'https://evil.example', 'x-earshot-console': '1', 'content-type': 'application/json' },
    ],
  ])('of %s is refused', async (_, headers) => {
    const page = locationOf(await begin());
    expect((await browser.decide(page, allow, headers)).status).toBeGreaterThanOrEqual(400);
    expect((await browser.request(page)).status).toBe(200);
    const { keys } = await createEarshot({ url: server.url, key: account.key }).listKeys({});
    expect(keys).toHaveLength(1);
  });

  test('for more scopes than requested is refused', async () => {
    const page = locationOf(await begin({ scope: 'rules:read' }));
    for (const scopes of [['rules:write'], ['rules:read', 'keys:write'], []])
      expect((await browser.decide(page, { ...allow, scopes })).status).toBe(400);
  });

  test('for more scopes than the signed-in key has is refused', async () => {
    const page = locationOf(await begin());
    const narrow = await world.admin.createKey({
      accountId: account.accountId,
      scopes: ['rules:read', 'keys:write'],
    });
    await browser.signIn(narrow?.key ?? '');
    const answer = await browser.decide(page, allow);
    expect(bodyOf(answer)).toMatchObject({
      code: 'permission_denied',
      details: { required_scope: 'rules:write' },
    });
    const reader = await world.admin.createKey({ accountId: account.accountId, scopes: ['rules:read'] });
    await browser.signIn(reader?.key ?? '');
    const refused = await browser.decide(page, { ...allow, scopes: ['rules:read'] });
    expect(bodyOf(refused)).toMatchObject({ details: { required_scope: 'keys:write' } });
  });

  test('is made once, even if several requests make it at the same time', async () => {
    const page = locationOf(await begin());
    const decisions = [allow, { decision: 'refuse' }, allow, allow, { decision: 'refuse' }, allow];
    const answers = await Promise.all(decisions.map((one) => browser.decide(page, one)));
    const later = await browser.decide(page, allow);
    const refused = [...answers, later].filter(({ status }) => status !== 200);
    expect(refused).toHaveLength(decisions.length);
    for (const one of refused) expect(bodyOf(one)).toMatchObject({ code: 'failed_precondition' });
    const { keys } = await createEarshot({ url: server.url, key: account.key }).listKeys({});
    expect(keys.length).toBeLessThanOrEqual(2);
  });

  test('that fails may be made again', async () => {
    const page = locationOf(await begin());
    const budget = { period: 'day', usd: 3, on_reached: 'pause' } as const;
    const limited = await world.admin.createKey({ accountId: account.accountId, budget });
    await browser.signIn(limited?.key ?? '');
    expect((await browser.decide(page, { ...allow, budget_usd_per_day: 5 })).status).toBe(400);
    expect((await browser.decide(page, allow)).status).toBe(200);
  });

  test('leads to a path of our own, and to an error in other browsers', async () => {
    const page = locationOf(await begin());
    const { continue_url } = bodyOf(await browser.decide(page, allow));
    expect(continue_url).toMatch(/^\/oauth\/auth\/[\w-]+$/);
    const other = await openBrowser(server).open(String(continue_url));
    expect([other.status, other.headers.location]).toEqual([400, undefined]);
  });
});

describe('an access token', () => {
  test('is refused everywhere except at /mcp', async () => {
    const { access_token } = await authorized();
    const headers = { authorization: `Bearer ${access_token}`, 'content-type': 'application/json' };
    for (const path of ['/api.CreateRule', '/matches', '/api.ListKeys', '/api.WhoAmI', '/console/links'])
      expect((await sendAsBrowser({ to: server, path, headers, body: '{}' })).status).toBe(401);
  });

  test('in the URL is refused', async () => {
    const { access_token } = await authorized();
    const answer = await sendAsBrowser({
      to: server,
      path: `/mcp?access_token=${access_token}`,
      headers: {},
      body: '',
    });
    expect(answer.status).toBe(401);
  });

  test('for one address is refused at another address of the same database', async () => {
    const { access_token } = await authorized();
    expect(await works(access_token)).toBe(true);
    expect(await works(access_token, elsewhere)).toBe(false);
    expect(await works(account.key, elsewhere)).toBe(true);
  });

  test('allows only its scopes, and the refusal names the missing one', async () => {
    const { access_token } = await authorized({ decision: 'allow', scopes: ['rules:read'] });
    const call = { method: 'tools/call', params: { name: 'create_rule', arguments: {} } };
    const answer = await listTools(server, access_token, call);
    expect(answer.status).toBe(403);
    expect(answer.headers['www-authenticate']).toBe(
      `Bearer error="insufficient_scope", scope="rules:read rules:write", resource_metadata="${server.url}/.well-known/oauth-protected-resource/mcp"`,
    );
    const listed = await listTools(server, access_token);
    expect(listed.text).toContain('"name":"list_rules"');
    expect(listed.text).not.toContain('"name":"create_rule"');
  });

  test('that is wrong or missing is refused with the address of the metadata', async () => {
    for (const bearer of ['', 'x'.repeat(43), 'nonsense']) {
      const answer = await listTools(server, bearer);
      expect([answer.status, answer.headers['www-authenticate']]).toEqual([
        401,
        `Bearer resource_metadata="${server.url}/.well-known/oauth-protected-resource/mcp", scope="rules:read rules:write matches:read matches:label readers:write"`,
      ]);
    }
  });

  test('of a suspended account is refused, and is not renewed', async () => {
    const { access_token, refresh_token } = await authorized();
    await world.admin.suspendAccount(account.accountId);
    expect(await works(access_token)).toBe(false);
    expect(error(await program.refresh(clientId, refresh_token))).toEqual([400, 'invalid_grant']);
  });

  test('is not in the database, nor are codes and refresh tokens', async () => {
    const pkce = newPkce();
    const code = await codeFor(pkce);
    const tokens = tokensOf(await program.redeem(clientId, code, pkce.verifier));
    const { rows } = await world.database.query(
      'select row_to_json(oauth_artefacts)::text as row from oauth_artefacts',
    );
    const all = rows.map(({ row }) => row).join('\n');
    expect(all).toContain(account.accountId);
    for (const secret of [code, tokens.access_token, tokens.refresh_token]) {
      expect(secret).toHaveLength(43);
      expect(all).not.toContain(secret);
    }
  });
});

describe('a refresh token', () => {
  test('is renewed; if it is used twice, all tokens of the authorization end', async () => {
    const first = await authorized();
    const second = tokensOf(await program.refresh(clientId, first.refresh_token));
    expect(second.refresh_token).not.toBe(first.refresh_token);
    expect(error(await program.refresh(clientId, first.refresh_token))).toEqual([400, 'invalid_grant']);
    expect(await works(second.access_token)).toBe(false);
    expect(error(await program.refresh(clientId, second.refresh_token))).toEqual([400, 'invalid_grant']);
  });

  test('grants only the approved scopes', async () => {
    const { refresh_token } = await authorized({ decision: 'allow', scopes: ['rules:read'] });
    const answer = await program.refresh(clientId, refresh_token, { scope: 'rules:read rules:write' });
    expect(error(answer)).toEqual([400, 'invalid_scope']);
  });

  test('that the client revokes ends the key', async () => {
    const { access_token, refresh_token } = await authorized();
    const answer = await program.post('/oauth/token/revocation', {
      client_id: clientId,
      token: refresh_token,
    });
    expect(answer.status).toBe(200);
    expect(await works(access_token)).toBe(false);
    const { keys } = await createEarshot({ url: server.url, key: account.key }).listKeys({});
    expect(keys).toHaveLength(1);
  });
});

test.each(['password', 'client_credentials', 'implicit', 'urn:ietf:params:oauth:grant-type:device_code'])(
  'the grant type %s is refused',
  async (grant_type) => {
    const answer = await program.post('/oauth/token', {
      grant_type,
      client_id: clientId,
      username: 'a',
      password: 'b',
    });
    expect(error(answer)).toEqual([400, 'unsupported_grant_type']);
  },
);
