import { createSecretKey } from 'node:crypto';
import { createServer } from 'node:http';
import { createEarshot } from '@earshot/sdk';
import { listenOnLoopback } from '@earshot/testkit';
import { type CryptoKey, exportJWK, exportSPKI, generateKeyPair, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sendAsBrowser } from './src/browser-requests.ts';
import { authorizing, bodyOf, createProgram, listTools } from './src/oauth-parts.ts';
import { type Account, type ServerUnderTest, startWorld, type World } from './src/world.ts';

/** A company's own authorization server as Earshot sees it: its metadata and its keys. */
async function startIssuer() {
  const keys = await generateKeyPair('ES256', { extractable: true });
  const published = { ...(await exportJWK(keys.publicKey)), kid: 'one', alg: 'ES256' };
  let url = '';
  const server = createServer((request, response) => {
    const body =
      request.url === '/tenant/.well-known/openid-configuration'
        ? { issuer: url, jwks_uri: `${url}/keys` }
        : request.url === '/tenant/keys'
          ? { keys: [published] }
          : null;
    response.writeHead(body === null ? 404 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  });
  url = `http://127.0.0.1:${await listenOnLoopback(server)}/tenant`;
  return { url, keys, stop: () => server.close() };
}

let world: World;
let server: ServerUnderTest;
let account: Account;
let issuer: Awaited<ReturnType<typeof startIssuer>>;
beforeAll(async () => {
  world = await startWorld();
  issuer = await startIssuer();
  server = await world.startServer({ ...(await authorizing()), EARSHOT_OAUTH_ISSUER: issuer.url });
  account = await world.newAccount('Company');
});
afterAll(async () => {
  issuer?.stop();
  await world?.[Symbol.asyncDispose]();
});

interface Signing {
  readonly key?: CryptoKey | Uint8Array;
  readonly alg?: string;
  readonly kid?: string;
}

/** A token of the issuer for Earshot, with the given differences. */
function tokenWith(
  claims: Readonly<Record<string, unknown>> = {},
  { key = issuer.keys.privateKey, alg = 'ES256', kid = 'one' }: Signing = {},
) {
  const usual = {
    iss: issuer.url,
    aud: `${server.url}/mcp`,
    sub: 'user-1',
    client_id: 'desk agent',
    earshot_account: account.accountId,
    scope: 'openid rules:read matches:read',
    exp: Math.floor(Date.now() / 1_000) + 300,
  };
  return new SignJWT({ ...usual, ...claims }).setProtectedHeader({ alg, kid, typ: 'at+jwt' }).sign(key);
}

const statusOf = async (token: string) => (await listTools(server, token)).status;
const owner = () => createEarshot({ url: server.url, key: account.key });

test('the metadata of /mcp names the issuer, and Earshot issues no tokens itself', async () => {
  const request = { to: server, method: 'GET', path: '/.well-known/oauth-protected-resource/mcp' };
  expect(bodyOf(await sendAsBrowser(request))).toMatchObject({
    resource: `${server.url}/mcp`,
    authorization_servers: [issuer.url],
  });
  expect((await createProgram(server).register()).status).toBe(404);
  const { headers, status } = await listTools(server, '');
  expect([status, headers['www-authenticate']]).toEqual([401, expect.stringContaining('resource_metadata=')]);
});

test('its token works at /mcp only, as a key of the account that is created once', async () => {
  const token = await tokenWith();
  const answers = await Promise.all(Array.from({ length: 8 }, () => listTools(server, token)));
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  const tools = answers[0]?.text ?? '';
  expect(tools).toContain('"name":"list_matches"');
  expect(tools).not.toContain('"name":"create_rule"');
  const { keys } = await owner().listKeys({});
  expect(keys.filter(({ client }) => client !== null)).toMatchObject([
    { display: 'desk agent (OAuth)', client: { id: 'issuer:desk agent', name: 'desk agent' } },
  ]);
  const elsewhere = {
    to: server,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
  };
  expect((await sendAsBrowser({ ...elsewhere, body: '{}' })).status).toBe(401);
});

test("a call outside of the token's scope is refused with the missing scope", async () => {
  const params = { name: 'create_rule', arguments: {} };
  const answer = await listTools(server, await tokenWith(), { method: 'tools/call', params });
  expect([answer.status, answer.headers['www-authenticate']]).toEqual([
    403,
    expect.stringContaining('insufficient_scope'),
  ]);
});

test('a revoked key stays revoked, whatever the issuer issues later', async () => {
  const claims = { sub: 'leaver' };
  expect(await statusOf(await tokenWith(claims))).toBe(200);
  const { keys } = await owner().listKeys({});
  const [newest] = keys;
  await owner().revokeKey({ key_id: newest?.id ?? '' });
  expect(await statusOf(await tokenWith(claims))).toBe(401);
  expect(await statusOf(await tokenWith({ sub: 'stayer' }))).toBe(200);
});

describe('a token is refused', () => {
  const seconds = (ahead: number) => Math.floor(Date.now() / 1_000) + ahead;
  test.each<[what: string, claims: () => Readonly<Record<string, unknown>>]>([
    ['of another issuer', () => ({ iss: 'http://127.0.0.1:9/tenant' })],
    ['of an issuer with another path', () => ({ iss: issuer.url.replace('/tenant', '/other') })],
    ['for another audience', () => ({ aud: 'https://other.example/mcp' })],
    ['for the server but not for /mcp', () => ({ aud: server.url })],
    ['that has expired', () => ({ exp: seconds(-60) })],
    ['that never expires', () => ({ exp: undefined })],
    ['that is not valid yet', () => ({ nbf: seconds(600) })],
    ['without a subject', () => ({ sub: undefined })],
    ['without an account', () => ({ earshot_account: undefined })],
    ['of an account that does not exist', () => ({ earshot_account: 'acc_01kb2n0a4c7q5t8w3y6z1v0n2p' })],
    ['with an invalid account id', () => ({ earshot_account: "acc_' or true --" })],
    ['of a list of accounts', () => ({ earshot_account: [account.accountId] })],
  ])('%s', async (_what, claims) => {
    expect(await statusOf(await tokenWith(claims()))).toBe(401);
  });

  test('if it is signed by another key under the same key id', async () => {
    const { privateKey } = await generateKeyPair('ES256');
    expect(await statusOf(await tokenWith({}, { key: privateKey }))).toBe(401);
  });

  test('if its key id is unknown', async () => {
    expect(await statusOf(await tokenWith({}, { kid: 'two' }))).toBe(401);
  });

  test('if it is signed with the public key as a shared secret', async () => {
    const secret = createSecretKey(Buffer.from(await exportSPKI(issuer.keys.publicKey)));
    expect(await statusOf(await tokenWith({}, { key: new Uint8Array(secret.export()), alg: 'HS256' }))).toBe(
      401,
    );
  });

  test('if it has no signature', async () => {
    const [, payload] = (await tokenWith()).split('.');
    const header = Buffer.from(JSON.stringify({ alg: 'none' })).toString('base64url');
    for (const forged of [`${header}.${payload}.`, `${header}.${payload}.x`])
      expect(await statusOf(forged)).toBe(401);
  });

  test('if its account is suspended', async () => {
    const suspended = await world.newAccount('Suspended');
    const claims = { earshot_account: suspended.accountId };
    expect(await statusOf(await tokenWith(claims))).toBe(200);
    await world.database.query('update accounts set suspended_at = now() where id = $1', [
      suspended.accountId,
    ]);
    expect(await statusOf(await tokenWith(claims))).toBe(403);
  });
});
