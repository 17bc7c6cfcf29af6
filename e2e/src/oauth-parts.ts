import { createHash, randomBytes, randomInt } from 'node:crypto';
import { freePorts } from '@earshot/engines';
import { z } from 'zod';
import { type Answered, type Headers, sendAsBrowser } from './browser-requests.ts';
import type { ServerUnderTest, World } from './world.ts';

/** Settings of a server that authorizes clients, at the address that clients use. */
export async function authorizing(): Promise<Record<string, string>> {
  const [port = 0] = await freePorts(1);
  return {
    EARSHOT_PORT: String(port),
    EARSHOT_PUBLIC_URL: `http://127.0.0.1:${port}`,
    // Each address may send a limited number of requests, so every caller sends its own.
    EARSHOT_TRUSTED_PROXIES: '127.0.0.1',
  };
}

export async function startAuthorizing(
  world: World,
  env: Record<string, string> = {},
): Promise<ServerUnderTest> {
  return await world.startServer({ ...(await authorizing()), ...env });
}

const anAddress = () =>
  `203.0.113.${randomInt(256)}, 10.${randomInt(256)}.${randomInt(256)}.${randomInt(256)}`;

const own = { 'sec-fetch-site': 'same-origin', 'x-earshot-console': '1' };
const json = { 'content-type': 'application/json' };

export type Browser = ReturnType<typeof openBrowser>;

/** A browser with its cookies, and the console's page in it. */
export function openBrowser(to: { readonly url: string }) {
  const jar = new Map<string, { value: string; path: string }>();
  const from = { 'x-forwarded-for': anAddress() };
  const send = async (request: { method?: string; path: string; headers?: Headers; body?: string }) => {
    const { pathname } = new URL(request.path, to.url);
    const cookie = [...jar]
      .filter(([, { path }]) => pathname === path || pathname.startsWith(path.replace(/\/?$/, '/')))
      .map(([name, { value }]) => `${name}=${value}`)
      .join('; ');
    const answer = await sendAsBrowser({
      to,
      ...request,
      headers: { ...from, ...(cookie && { cookie }), ...request.headers },
    });
    for (const line of answer.headers['set-cookie'] ?? []) {
      const [pair = '', ...attributes] = line.split('; ');
      const [name = '', ...value] = pair.split('=');
      const path = attributes.find((one) => /^path=/i.test(one))?.slice('path='.length) ?? '/';
      if (value.join('=') === '') jar.delete(name);
      else jar.set(name, { value: value.join('='), path });
    }
    return answer;
  };
  const origin = new URL(to.url).origin;
  return {
    send,
    /** A page without following redirects. */
    open: (url: string) => {
      const { pathname, search } = new URL(url, to.url);
      return send({ method: 'GET', path: pathname + search });
    },
    signIn: (key: string) =>
      send({ path: '/console/session', headers: { ...own, ...json, origin }, body: JSON.stringify({ key }) }),
    request: (page: string, headers: Headers = own) =>
      send({ method: 'GET', path: `${page}/request`, headers }),
    decide: (page: string, decision: object, headers: Headers = { ...own, ...json }) =>
      send({ path: `${page}/decision`, headers, body: JSON.stringify(decision) }),
  };
}

/** The address that a page sends the browser to. */
export function locationOf({ headers }: Answered): string {
  return headers.location ?? '';
}

export function bodyOf(answer: Answered): Record<string, unknown> {
  return z.record(z.string(), z.unknown()).parse(JSON.parse(answer.text));
}

/** Opens the address that a client gives its user, approves it, and returns the client's redirect URI with the answer. */
export async function authorizeIn(
  browser: Browser,
  url: string,
  decision: object = { decision: 'allow' },
): Promise<URL> {
  const page = locationOf(await browser.open(url));
  const decided = await browser.decide(page, decision);
  if (decided.status !== 200) throw new Error(`the decision was answered ${decided.status}: ${decided.text}`);
  return new URL(locationOf(await browser.open(String(bodyOf(decided)['continue_url']))));
}

export const callback = 'http://127.0.0.1:7777/callback';

export interface Pkce {
  readonly verifier: string;
  readonly challenge: string;
}

export function newPkce(): Pkce {
  const verifier = randomBytes(32).toString('base64url');
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') };
}

export type Tokens = z.output<typeof tokensSchema>;
const tokensSchema = z.looseObject({
  access_token: z.string(),
  refresh_token: z.string(),
  expires_in: z.number(),
  scope: z.string(),
});

/** A client that implements OAuth without a library, so that it can also break the protocol. */
export function createProgram(server: { readonly url: string }) {
  const from = { 'x-forwarded-for': anAddress() };
  const post = (path: string, body: Record<string, string>) =>
    sendAsBrowser({
      to: server,
      path,
      headers: { ...from, 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams(body).toString(),
    });
  return {
    register: (metadata: object = {}) =>
      sendAsBrowser({
        to: server,
        path: '/oauth/reg',
        headers: { ...from, ...json },
        body: JSON.stringify({ client_name: 'Program', redirect_uris: [callback], ...metadata }),
      }),
    authorizeUrl: (clientId: string, pkce: Pkce | null, more: Record<string, string> = {}) => {
      const url = new URL('/oauth/auth', server.url);
      const query = {
        client_id: clientId,
        redirect_uri: callback,
        response_type: 'code',
        state: 'some-state',
        resource: `${new URL(server.url).origin}/mcp`,
        scope: 'rules:read rules:write matches:read',
        ...(pkce && { code_challenge: pkce.challenge, code_challenge_method: 'S256' }),
        ...more,
      };
      for (const [name, value] of Object.entries(query)) if (value !== '') url.searchParams.set(name, value);
      return url.href;
    },
    redeem: (clientId: string, code: string, verifier: string, more: Record<string, string> = {}) =>
      post('/oauth/token', {
        grant_type: 'authorization_code',
        client_id: clientId,
        redirect_uri: callback,
        code,
        code_verifier: verifier,
        ...more,
      }),
    refresh: (clientId: string, token: string, more: Record<string, string> = {}) =>
      post('/oauth/token', {
        grant_type: 'refresh_token',
        client_id: clientId,
        refresh_token: token,
        ...more,
      }),
    post,
  };
}

export function tokensOf(answer: Answered): Tokens {
  return tokensSchema.parse(JSON.parse(answer.text));
}

/** The answer of `/mcp` to a request with these headers. */
export function listTools(
  server: { readonly url: string },
  bearer: string,
  body: object = {},
): Promise<Answered> {
  return sendAsBrowser({
    to: server,
    path: '/mcp',
    headers: {
      ...json,
      accept: 'application/json, text/event-stream',
      authorization: bearer === '' ? undefined : `Bearer ${bearer}`,
      'mcp-protocol-version': '2025-06-18',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', ...body }),
  });
}
