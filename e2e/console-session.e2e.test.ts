import { text } from 'node:stream/consumers';
import { type AnswerOf, formatKey, type Scope } from '@earshot/contract';
import { eventually } from '@earshot/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  type BrowserRequest,
  cookieIn,
  type Headers,
  openAsBrowser,
  sendAsBrowser,
} from './src/browser-requests.ts';
import { type Account, type ServerUnderTest, startWorld, type World } from './src/world.ts';

const promisedMs = 5_000;
const within = { timeoutMs: promisedMs };
const json = 'application/json';
const host = 'earshot.example.com';

let world: World;
let server: ServerUnderTest;
let other: ServerUnderTest;
let account: Account;
let attacker: Account;
beforeAll(async () => {
  world = await startWorld();
  [server, other] = await Promise.all([world.startServer(), world.startServer()]);
  [account, attacker] = await Promise.all([world.newAccount('Owner'), world.newAccount('Attacker')]);
  await server.api(account).createRule({ x: 'secretword' });
});
afterAll(() => world?.[Symbol.asyncDispose]());

const ask = (request: Omit<BrowserRequest, 'to'> & Partial<BrowserRequest>) =>
  sendAsBrowser({ to: server, ...request });

/** The headers of the console's own requests. */
const own = { 'sec-fetch-site': 'same-origin', 'x-earshot-console': '1', 'content-type': json };
const withoutBody = { ...own, 'content-type': undefined };
const ownOrigin = () => ({ ...own, origin: new URL(server.url).origin });

const signIn = (body: object, more: Headers = {}) =>
  ask({ path: '/console/session', headers: { ...ownOrigin(), ...more }, body: JSON.stringify(body) });

async function signedIn(key = account.key): Promise<string> {
  const answer = await signIn({ key });
  expect(answer).toMatchObject({ status: 200 });
  return cookieIn(answer);
}

async function newLink(key = account.key): Promise<{ url: URL; code: string }> {
  const headers = { authorization: `Bearer ${key}` };
  const answer = await ask({ path: '/console/links', headers });
  const { url, expires_at } = JSON.parse(answer.text) as { url: string; expires_at: string };
  expect(Date.parse(expires_at) - Date.now()).toBeLessThanOrEqual(60_000);
  return { url: new URL(url), code: new URL(url).hash.replace('#code=', '') };
}

const signOut = (headers: Headers) => ask({ method: 'DELETE', path: '/console/session', headers });

const getSession = (cookie: string, to = server) =>
  ask({ method: 'GET', path: '/console/session', headers: { ...own, cookie }, to });

const listRules = (headers: Headers) => ask({ method: 'GET', path: '/api.ListRules', headers });

describe('signing in', () => {
  test('with a key sets a cookie that scripts cannot read, and returns who signed in', async () => {
    const answer = await signIn({ key: account.key });
    expect(JSON.parse(answer.text)).toEqual({
      account_id: account.accountId,
      account_name: 'Owner',
      key_id: account.keyId,
      scopes: expect.arrayContaining(['rules:read', 'matches:read']),
      expires_at: expect.any(String),
    });
    expect(answer.headers['set-cookie']).toEqual([
      expect.stringMatching(/^earshot=[\w-]{43}; HttpOnly; SameSite=Strict; Path=\/$/),
    ]);
    const session = await getSession(cookieIn(answer), other);
    expect(session.status).toBe(200);
    const { expires_at, ...who } = JSON.parse(session.text);
    expect(JSON.parse(answer.text)).toMatchObject(who);
    expect(Date.parse(expires_at) - Date.now()).toBeGreaterThan(11.9 * 3_600_000);
  });

  test('over HTTPS sets a cookie that only this host can set and only HTTPS carries', async () => {
    const answer = await signIn({ key: account.key }, { host, origin: `https://${host}` });
    expect(answer.headers['set-cookie']).toEqual([
      expect.stringMatching(/^__Host-earshot=[\w-]{43}; Secure; HttpOnly; SameSite=Strict; Path=\/$/),
    ]);
    expect((await listRules({ ...own, host, cookie: cookieIn(answer) })).status).toBe(200);
  });

  test('over plain HTTP from another machine is refused with what to do', async () => {
    const answer = await signIn({ key: account.key }, { host, origin: `http://${host}` });
    expect(answer.headers['set-cookie']).toBeUndefined();
    expect(JSON.parse(answer.text)).toMatchObject({
      code: 'failed_precondition',
      message: expect.stringContaining('HTTPS'),
    });
  });

  test('gives the session the scopes of the key', async () => {
    const scopes: Scope[] = ['rules:read'];
    const narrow = await world.admin.createKey({ accountId: account.accountId, scopes });
    const cookie = await signedIn(narrow?.key);
    expect((await listRules({ ...own, cookie })).status).toBe(200);
    expect((await ask({ headers: { ...own, cookie }, body: '{}' })).status).toBe(403);
  });

  test.each(['{}', '{"key":1}', '{"key":"a","code":"b"}', '[]', 'null', '{'])(
    'with %s is invalid',
    async (body) => {
      const answer = await ask({ path: '/console/session', headers: ownOrigin(), body });
      expect([answer.status, answer.headers['set-cookie']]).toEqual([400, undefined]);
    },
  );

  test('without a key or with an unknown key is refused', async () => {
    for (const key of ['', 'nonsense', formatKey('a'.repeat(32))]) {
      const answer = await signIn({ key });
      expect([answer.status, answer.headers['set-cookie']]).toEqual([401, undefined]);
    }
  });

  test('is audited, as is signing out', async () => {
    const person = await world.newAccount();
    const cookie = cookieIn(await signIn({ code: (await newLink(person.key)).code }));
    await signOut({ ...withoutBody, cookie });
    const { text: audit } = await server.api(person).call('POST', '/api.ListAudit', {});
    const { entries } = JSON.parse(audit) as AnswerOf<'ListAudit'>;
    expect(entries.slice(0, 2).map(({ operation, actor, after }) => ({ operation, actor, after }))).toEqual([
      { operation: 'SignOut', actor: person.keyId, after: null },
      { operation: 'SignIn', actor: person.keyId, after: { by: 'link' } },
    ]);
  });
});

describe('a sign-in link', () => {
  test('signs in once, with a code that is in no request line', async () => {
    const { url, code } = await newLink();
    expect(url.origin + url.pathname + url.search).toBe(`${new URL(server.url).origin}/`);
    const first = await signIn({ code });
    expect((await getSession(cookieIn(first))).status).toBe(200);
    const second = await signIn({ code });
    expect([second.status, second.headers['set-cookie']]).toEqual([401, undefined]);
  });

  test('names its account before it is used, only to the console, and stays usable', async () => {
    const { code } = await newLink();
    const read = (body: object, headers: Headers = own) =>
      ask({ path: '/console/links/account', headers, body: JSON.stringify(body) });
    const answer = await read({ code });
    expect([answer.status, JSON.parse(answer.text)]).toEqual([200, { account_name: 'Owner' }]);
    expect((await read({ code: 'unknown' })).status).toBe(401);
    expect((await read({ code }, { ...own, 'sec-fetch-site': 'cross-site' })).status).toBe(401);
    expect((await signIn({ code })).status).toBe(200);
    expect((await read({ code })).status).toBe(401);
  });

  test('signs in one of ten concurrent requests', async () => {
    const { code } = await newLink();
    const answers = await Promise.all(Array.from({ length: 10 }, () => signIn({ code })));
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
      200,
      ...Array(9).fill(401),
    ]);
  });

  test('is refused after a minute', async () => {
    const { code } = await newLink();
    await world.database.query(`update console_links set created_at = created_at - interval '61 seconds'`);
    expect((await signIn({ code })).status).toBe(401);
  });

  test('is refused if its key was revoked meanwhile', async () => {
    const created = await world.admin.createKey({ accountId: account.accountId });
    const { code } = await newLink(created?.key);
    await world.admin.revokeKey(created?.keyId ?? '');
    expect((await signIn({ code })).status).toBe(401);
  });

  test('does not replace the session of another account, and stays usable', async () => {
    const cookie = await signedIn();
    const { code } = await newLink(attacker.key);
    const refused = await signIn({ code }, { cookie });
    expect(refused.headers['set-cookie']).toBeUndefined();
    expect(JSON.parse(refused.text).code).toBe('failed_precondition');
    expect((await getSession(cookie)).status).toBe(200);
    expect((await signIn({ code })).status).toBe(200);
  });

  test('cannot be created by a session', async () => {
    const cookie = await signedIn();
    expect((await ask({ path: '/console/links', headers: { ...own, cookie } })).status).toBe(401);
  });
});

/** Requests with the cookie of a signed-in user that the console did not send. */
const elsewhere: Record<string, Omit<BrowserRequest, 'to'>> = {
  'of another site': { headers: { 'sec-fetch-site': 'cross-site' } },
  'of a neighbouring host': { headers: { 'sec-fetch-site': 'same-site' } },
  'of no site: a typed address': { headers: { 'sec-fetch-site': 'none' } },
  'of two sites': { headers: { 'sec-fetch-site': ['same-origin', 'cross-site'] } },
  'of a foreign origin': {
    headers: { 'sec-fetch-site': undefined, origin: 'https://evil.example' },
  },
  'of an origin with our origin as its prefix': {
    headers: { 'sec-fetch-site': undefined, origin: 'http://127.0.0.1.evil.example' },
  },
  'of a hidden origin': { headers: { 'sec-fetch-site': undefined, origin: 'null' } },
  'of another port of this host': {
    headers: { 'sec-fetch-site': undefined, origin: 'http://127.0.0.1:1' },
  },
  'without the headers of a browser': { headers: { 'sec-fetch-site': undefined } },
  'without the header of the console': { headers: { 'x-earshot-console': undefined } },
  'with another value in that header': { headers: { 'x-earshot-console': '0' } },
  'of a form': { headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: 'a=b' },
  'of a form with a file': { headers: { 'content-type': 'multipart/form-data; boundary=a' }, body: '--a--' },
  'of a form of plain text': { headers: { 'content-type': 'text/plain' } },
  'of a content type with JSON as its prefix': { headers: { 'content-type': 'application/jsonp' } },
  'without a content type': { headers: { 'content-type': undefined } },
  'of a navigation': {
    method: 'GET',
    path: '/api.ListRules',
    headers: { 'x-earshot-console': undefined, 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' },
  },
  'of an image, to a stream': {
    method: 'GET',
    path: '/matches/stream',
    headers: { 'x-earshot-console': undefined, 'sec-fetch-site': 'cross-site', 'sec-fetch-dest': 'image' },
  },
  'beside a key that is not valid': { headers: { authorization: 'Bearer nonsense' } },
  'beside an empty key': { headers: { authorization: '' } },
  'to the MCP tools': { path: '/mcp', body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}' },
};

describe('the cookie of a session', () => {
  let cookie: string;
  beforeAll(async () => {
    cookie = await signedIn();
  });

  test("is accepted for the console's own requests", async () => {
    const answers = await Promise.all([
      ask({ headers: { ...own, cookie }, body: '{}' }),
      ask({ headers: { ...own, 'content-type': `${json}; charset=utf-8`, cookie }, body: '{}' }),
      ask({ headers: { ...ownOrigin(), 'sec-fetch-site': undefined, cookie }, body: '{}' }),
      listRules({ ...own, cookie: `theme=dark; ${cookie}; other=1` }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  });

  test.each(Object.entries(elsewhere))('is refused for a request %s', async (_name, request) => {
    const headers = { ...own, cookie, ...request.headers };
    const method = request.method ?? 'POST';
    const body = method === 'POST' ? { body: request.body ?? '{}' } : {};
    const response = await openAsBrowser({ to: server, ...request, headers, ...body });
    // An accepted stream would never end.
    expect(response.statusCode).toBe(401);
    expect(await text(response)).not.toContain('secretword');
  });

  test('is refused at a public name if a neighbouring host may have set it', async () => {
    expect((await listRules({ ...own, host, cookie })).status).toBe(401);
    expect((await listRules({ ...own, host, cookie: `__Host-${cookie}` })).status).toBe(200);
    // Over plain HTTP, anyone on the network path can send pages in our name.
    const plain = { ...own, host, 'sec-fetch-site': undefined, origin: `http://${host}` };
    expect((await ask({ headers: { ...plain, cookie: `__Host-${cookie}` }, body: '{}' })).status).toBe(401);
  });

  test('is ignored beside the key of another account', async () => {
    const answer = await listRules({ ...own, cookie, authorization: `Bearer ${attacker.key}` });
    expect([answer.status, JSON.parse(answer.text).rules]).toEqual([200, []]);
  });

  test('is neither set nor deleted for another site', async () => {
    const crossSite = { ...ownOrigin(), 'sec-fetch-site': 'cross-site' };
    const forged = await signIn({ key: attacker.key }, crossSite);
    expect([forged.status, forged.headers['set-cookie']]).toEqual([401, undefined]);
    const out = await signOut({ ...crossSite, cookie });
    expect([out.status, out.headers['set-cookie']]).toEqual([401, undefined]);
    expect((await getSession(cookie)).status).toBe(200);
  });

  test('gives other origins no access by CORS', async () => {
    for (const path of ['/matches', '/console/session', '/api.ListRules']) {
      const asking = { 'access-control-request-method': 'POST', origin: 'https://evil.example' };
      const answer = await ask({ method: 'OPTIONS', path, headers: asking });
      expect(answer.status).toBeGreaterThanOrEqual(400);
      expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
    }
  });
});

describe('a cookie from before the sign-in', () => {
  const planted = 'A'.repeat(43);

  test('is never adopted if it was made up', async () => {
    const cookie = cookieIn(await signIn({ key: account.key }, { cookie: `earshot=${planted}` }));
    expect(cookie).not.toContain(planted);
    expect((await getSession(`earshot=${planted}`)).status).toBe(401);
    expect((await getSession(cookie)).status).toBe(200);
  });

  test("ends an attacker's session, and the attacker sees nothing of the new one", async () => {
    const theirs = await signedIn(attacker.key);
    const cookie = cookieIn(await signIn({ key: account.key }, { cookie: theirs }));
    expect(cookie).not.toBe(theirs);
    expect((await getSession(theirs)).status).toBe(401);
    expect(JSON.parse((await getSession(cookie)).text).account_id).toBe(account.accountId);
  });

  test('does not decide which of two accounts a request is for', async () => {
    const [theirs, mine] = [await signedIn(attacker.key), await signedIn()];
    expect((await getSession(`${theirs}; ${mine}`)).status).toBe(401);
    expect((await getSession(`${mine}; ${theirs}`)).status).toBe(401);
    // A session that has ended does not interfere.
    expect((await getSession(`earshot=${planted}; ${mine}`)).status).toBe(200);
  });
});

/** A stream of the session, and when it ended. */
async function openStream(cookie: string, to: ServerUnderTest): Promise<{ ended: Promise<number> }> {
  const headers = { ...own, cookie };
  const response = await openAsBrowser({ method: 'GET', path: '/matches/stream', headers, to });
  expect(response.statusCode).toBe(200);
  return {
    ended: text(response).then(
      () => Date.now(),
      () => Date.now(),
    ),
  };
}

describe('a session ends', () => {
  let key: Account;
  let cookie: string;
  beforeEach(async () => {
    const created = await world.admin.createKey({ accountId: account.accountId });
    if (!created) throw new Error('the account is gone');
    key = { ...account, ...created };
    cookie = await signedIn(key.key);
  });

  test('when it is signed out: a stolen cookie fails on every node at once, and its stream ends soon', async () => {
    const kept = await signedIn(key.key);
    const streams = await Promise.all([openStream(cookie, server), openStream(cookie, other)]);
    const staying = await openStream(kept, other);
    const out = await signOut({ ...withoutBody, cookie });
    const at = Date.now();
    expect([out.status, out.text]).toEqual([204, '']);
    expect(out.headers['set-cookie']).toContain('earshot=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0');
    for (const to of [server, other]) expect((await getSession(cookie, to)).status).toBe(401);
    for (const { ended } of streams) expect((await ended) - at).toBeLessThan(promisedMs);
    expect((await getSession(kept, other)).status).toBe(200);
    const state = Promise.race([staying.ended.then(() => 'ended'), Promise.resolve('open')]);
    expect(await state).toBe('open');
  });

  test.each(['revoked', 'expired'])('within 5 s when its key is %s, with its open streams', async (how) => {
    const streams = await Promise.all([openStream(cookie, server), openStream(cookie, other)]);
    const at = Date.now();
    if (how === 'revoked') await world.admin.revokeKey(key.keyId);
    else await world.database.query('update api_keys set expires_at = now() where id = $1', [key.keyId]);
    for (const to of [server, other]) {
      await eventually(async () => expect((await getSession(cookie, to)).status).toBe(401), within);
    }
    for (const { ended } of streams) expect((await ended) - at).toBeLessThan(promisedMs);
  });

  test.each([
    ['12 hours after its last use', 'last_used_at', '12 hours', 401],
    ['not 11 hours after its last use', 'last_used_at', '11 hours', 200],
    ['7 days after the sign-in, however much it is used', 'created_at', '7 days', 401],
    ['not 6 days after the sign-in', 'created_at', '6 days', 200],
  ])('%s', async (_when, column, age, status) => {
    const statement = `update console_sessions set ${column} = now() - interval '${age}' where key_id = $1`;
    await world.database.query(statement, [key.keyId]);
    expect((await getSession(cookie)).status).toBe(status);
  });

  test('not while it is used: its last use is stored', async () => {
    const statement = `update console_sessions set last_used_at = now() - interval '11 hours' where key_id = $1`;
    await world.database.query(statement, [key.keyId]);
    expect((await listRules({ ...own, cookie })).status).toBe(200);
    await eventually(async () => {
      const { rows } = await world.database.query(
        `select last_used_at > now() - interval '1 minute' as used from console_sessions where key_id = $1`,
        [key.keyId],
      );
      expect(rows).toEqual([{ used: true }]);
    }, within);
  });

  test('when its key has signed in twenty times since', async () => {
    const latest = [];
    for (let n = 0; n < 20; n++) latest.push(await signedIn(key.key));
    expect((await getSession(cookie)).status).toBe(401);
    for (const one of latest) expect((await getSession(one)).status).toBe(200);
  });
});

test('an address that guesses link codes must wait, and a valid key still signs in', async () => {
  const guess = (n: number) => signIn({ code: String(n).padStart(43, 'c') });
  const answers = [];
  for (let n = 0; n < 70; n++) answers.push(await guess(n));
  // One more is admitted each second.
  const refused = answers.find(({ status }) => status === 429);
  expect(refused?.headers['retry-after']).toMatch(/^\d+$/);
  expect((await signIn({ key: account.key })).status).toBe(200);
});

test('without the console there are no sessions', async () => {
  const cookie = await signedIn();
  await using without = await world.startServer({ EARSHOT_CONSOLE: 'off' });
  const headers = { ...ownOrigin(), cookie };
  const body = JSON.stringify({ key: account.key });
  expect((await ask({ path: '/console/session', headers, body, to: without })).status).toBe(404);
  expect((await ask({ method: 'GET', path: '/api.ListRules', headers, to: without })).status).toBe(401);
});
