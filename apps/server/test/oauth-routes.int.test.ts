import { once } from 'node:events';
import { request as send } from 'node:http';
import { text } from 'node:stream/consumers';
import Fastify from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createKeyGuesses } from '../src/accounts/authenticate.ts';
import type { Database } from '../src/engines/database.ts';
import { errorAnswer } from '../src/http/error-answer.ts';
import { addAuthorizationServer } from '../src/http/oauth.ts';
import { createAuthorizationServer } from '../src/oauth/authorization-server.ts';
import { createMigratedTemplate, openTestDatabase, silentLog } from './support.ts';

const publicUrl = 'https://earshot.example.com';
const callback = 'https://program.example/callback';

const stack = new AsyncDisposableStack();
let database: Database;
let url: string;
beforeAll(async () => {
  const template = await createMigratedTemplate();
  const clone = stack.use(await template.clone());
  database = stack.use(openTestDatabase(clone.url));
  const nowMs = () => performance.now();
  const authorizationServer = createAuthorizationServer({
    database,
    publicUrl,
    nowMs,
    contact: 'operator',
    log: silentLog,
    fetchMetadata: { fetch: () => Promise.reject(new Error('not expected')) },
    guesses: createKeyGuesses({ perMinute: 60, nowMs }),
  });
  authorizationServer.useCookieSecrets([Buffer.alloc(32, 1)]);
  const app = Fastify({ trustProxy: true });
  stack.defer(() => app.close());
  app.setErrorHandler((error, request, reply) => {
    const { status, headers, body } = errorAnswer(error, request.id);
    return reply.code(status).headers(headers).send(body);
  });
  addAuthorizationServer(app, authorizationServer);
  url = await app.listen({ host: '127.0.0.1', port: 0 });
});
afterAll(() => stack.disposeAsync());

let addresses = 0;
const newAddress = () => `10.0.${Math.floor(++addresses / 250)}.${addresses % 250}`;

interface Sent {
  readonly method?: 'GET' | 'POST';
  readonly address?: string;
  readonly json?: object;
}

/** Sends the path unchanged: `fetch` would normalize it. */
async function ask(path: string, { method = 'GET', address = newAddress(), json }: Sent = {}) {
  const headers = { 'x-forwarded-for': address, ...(json && { 'content-type': 'application/json' }) };
  const { hostname, port } = new URL(url);
  const sent = send({ hostname, port, path, method, headers, agent: false });
  sent.end(json && JSON.stringify(json));
  const [response] = await once(sent, 'response');
  return { status: Number(response.statusCode), headers: response.headers, text: await text(response) };
}

const register = (path = '/oauth/reg', more: { address?: string; metadata?: object } = {}) =>
  ask(path, {
    method: 'POST',
    ...(more.address && { address: more.address }),
    json: { client_name: 'Program', redirect_uris: [callback], ...more.metadata },
  });

const clientIdOf = (answer: { readonly text: string }) => String(JSON.parse(answer.text).client_id);

/** The query of an authorization request without a scope. */
function authorizeQuery(client_id: string, more: Record<string, string> = {}): string {
  const query = {
    client_id,
    redirect_uri: callback,
    response_type: 'code',
    resource: `${publicUrl}/mcp`,
    code_challenge: 'x'.repeat(43),
    code_challenge_method: 'S256',
    ...more,
  };
  return new URLSearchParams(query).toString();
}

/** Other spellings of a path. A router may treat them as the same. */
const spellingsOf = (path: string) => [
  path,
  path.toUpperCase().replace('/OAUTH', '/oauth'),
  `${path}/`,
  `${path}//`,
  `${path}?x=1`,
  `${path}/?x=1`,
  `${path}#x`,
  `${path};x=1`,
  path.replace('/oauth/', '/oauth//'),
  path.replace('/oauth/', '/oauth/./'),
  path.replace('/oauth/', '/oauth/%2F'),
  path.replace('/oauth', '/OAuth'),
  path.replace(/.$/, (last) => `%${last.charCodeAt(0).toString(16)}`),
  path.replace(/.$/, (last) => `%${last.toUpperCase().charCodeAt(0).toString(16)}`),
];

test('every endpoint in the metadata is served', async () => {
  const metadata = JSON.parse((await ask('/.well-known/oauth-authorization-server/oauth')).text);
  const endpoints = Object.entries<string>(metadata).filter(([name]) => /_(endpoint|uri)$/.test(name));
  expect(endpoints.map(([name]) => name).toSorted()).toEqual([
    'authorization_endpoint',
    'jwks_uri',
    'registration_endpoint',
    'revocation_endpoint',
    'token_endpoint',
  ]);
  for (const [name, endpoint] of endpoints) {
    const method = /authorization|jwks/.test(name) ? 'GET' : 'POST';
    expect([name, (await ask(new URL(endpoint).pathname, { method })).status]).not.toEqual([name, 404]);
  }
});

test.each(spellingsOf('/oauth/reg'))('registrations at %s count towards the limit', async (path) => {
  const address = newAddress();
  const startedMs = performance.now();
  const answers = await Promise.all(Array.from({ length: 25 }, () => register(path, { address })));
  const statuses = answers.map(({ status }) => status);
  const refilled = Math.ceil((performance.now() - startedMs) / 3_000);
  expect(statuses.filter((status) => status === 201).length).toBeLessThanOrEqual(20 + refilled);
  if (path === '/oauth/reg') expect(statuses).toContain(429);
});

test.each(spellingsOf('/oauth/auth'))('a request at %s without a scope is for all scopes', async (path) => {
  const client_id = clientIdOf(await register());
  const { status } = await ask(`${path}${path.includes('?') ? '&' : '?'}${authorizeQuery(client_id)}`);
  const begun = await database.many<{ scope: string | null }>(
    `select payload->'params'->>'scope' as scope from oauth_artefacts where kind = 'Interaction' and payload->'params'->>'client_id' = $1`,
    [client_id],
  );
  if (path === '/oauth/auth') expect([status, begun.length]).toEqual([303, 1]);
  for (const { scope } of begun)
    expect(scope).toBe('rules:read rules:write matches:read matches:label readers:write');
});

describe('before the user decides, nothing redirects to the client', () => {
  test.each([
    ['prompt=none', { prompt: 'none' }],
    ['prompt=none as a form', { prompt: 'none', response_mode: 'form_post' }],
    ['prompt=none as a script', { prompt: 'none', response_mode: 'web_message' }],
    ['an unknown prompt', { prompt: 'nonsense' }],
    ['another response type', { response_type: 'token' }],
    ['no PKCE', { code_challenge: '' }],
    ['another resource', { resource: 'https://elsewhere.example/mcp' }],
    ['an unsupported parameter', { request: 'x' }],
  ])('%s', async (_, more) => {
    const client_id = clientIdOf(await register());
    const { status, headers, text } = await ask(`/oauth/auth?${authorizeQuery(client_id, more)}`);
    expect([status, headers.location, headers['content-type']]).toEqual([
      400,
      undefined,
      'text/plain; charset=utf-8',
    ]);
    expect(text).toMatch(/^This request cannot be authorized: /);
  });
});

test('no answer below /oauth may load or run anything', async () => {
  const client_id = clientIdOf(await register());
  const policies = [
    await ask(`/oauth/auth?${authorizeQuery(client_id)}`),
    await ask('/oauth/auth/unknown'),
    await ask('/oauth/jwks'),
    await register(),
  ].map(({ headers }) => headers['content-security-policy']);
  expect(new Set(policies)).toEqual(new Set(["default-src 'none'; frame-ancestors 'none'; base-uri 'none'"]));
});

describe('a registration', () => {
  const stored = () =>
    database.one<{ clients: number; largest: number }>(
      `select count(*)::int as clients, max(length(payload::text)) as largest from oauth_artefacts where kind = 'Client'`,
    );

  test.each([
    [
      'many addresses',
      { redirect_uris: Array.from({ length: 20 }, (_, n) => `${callback}/${n}/${'x'.repeat(300)}`) },
    ],
    [
      'long URLs of its pages',
      { policy_uri: `${callback}/${'x'.repeat(1_900)}`, tos_uri: `${callback}/${'y'.repeat(1_900)}` },
    ],
  ])('of more than 4 KB is refused: %s', async (_, metadata) => {
    const before = await stored();
    const answer = await register(undefined, { metadata });
    expect([answer.status, JSON.parse(answer.text).error]).toEqual([400, 'invalid_client_metadata']);
    expect(await stored()).toEqual(before);
  });

  test('deletes the oldest registration that was never used, once 1,000 exist', async () => {
    await database.run(`delete from oauth_artefacts where kind = 'Client'`);
    await database.run(
      `insert into oauth_artefacts (kind, hash, payload, client_id, created_at, consumed_at)
       select 'Client', decode(md5(n::text), 'hex'), '{}', n::text, now() - (2000 - n) * interval '1 second',
         case when n <= 3 then now() end
       from generate_series(1, 1003) as n`,
    );
    const first = clientIdOf(await register());
    expect(first).toMatch(/^client_/);
    await register();
    const kept = await database.many<{ client_id: string }>(
      `select client_id from oauth_artefacts where kind = 'Client' order by created_at`,
    );
    const ids = kept.map(({ client_id }) => client_id);
    expect(ids).toHaveLength(1_003);
    expect(ids.slice(0, 4)).toEqual(['1', '2', '3', '6']);
    expect(ids).toContain(first);
  });
});
