import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Authenticate } from '../accounts/authenticate.ts';
import type { Principal } from '../accounts/call.ts';
import type { ConsoleSession, ConsoleSessions } from '../accounts/console-sessions.ts';
import type { RateLimits } from '../accounts/rate-limits.ts';
import { badField, Failure } from '../runtime/failure.ts';

/*
 * A browser sends a cookie with every request that any page causes. So the console's cookie counts only for requests from the
 * console's own pages: the browser says so (Fetch Metadata), or names their origin. They also have a header that a page of another
 * origin cannot send without CORS, which Earshot never allows. A CSRF token would be one more secret to keep in step.
 */

/** A prefix that browsers keep for cookies of this very host over HTTPS: no neighbouring host can set it. */
const secureName = '__Host-earshot';
/** For plain HTTP on this machine, where some browsers refuse the other name. */
const plainName = 'earshot';

/** The parts of a request that decide whether its cookie counts. */
interface CookieRequest {
  readonly method: string;
  /** The address in the browser, with the port. */
  readonly host: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** Whether one of the console's own pages sent the request. */
function isFromConsole({ method, host, headers }: CookieRequest): boolean {
  if (headers['x-earshot-console'] !== '1') return false;
  // A form cannot send JSON.
  if (method === 'POST' && !/^application\/json *(;|$)/i.test(String(headers['content-type']))) return false;
  const site = headers['sec-fetch-site'];
  return site === undefined ? isOwnOrigin(headers['origin'], host) : site === 'same-origin';
}

/** For browsers without Fetch Metadata. */
function isOwnOrigin(origin: string | string[] | undefined, host: string): boolean {
  const url = typeof origin === 'string' ? URL.parse(origin) : null;
  if (!url || url.host !== host) return false;
  return url.protocol === 'https:' || isLoopback(url.hostname);
}

function isLoopback(hostname: string): boolean {
  return /^(localhost|.+\.localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}

/** The name of the cookie for a browser that has sent this sign-in. */
function cookieNameFor({ host, headers }: CookieRequest): string {
  const { origin } = headers;
  const url = URL.parse(typeof origin === 'string' ? origin : `http://${host}`);
  if (url?.protocol === 'http:' && isLoopback(url.hostname)) return plainName;
  // Without an origin it is unknown whether a proxy in front of Earshot uses HTTPS.
  if (url?.protocol === 'https:' || origin === undefined) return secureName;
  throw new Failure(
    'failed_precondition',
    'The console needs HTTPS, because a session that is sent in plain text can be stolen. Use HTTPS, or open it on the machine that it runs on.',
    { details: { reason: 'insecure_connection' } },
  );
}

/** More than a normal browser has: one per name, and an old one. */
const tokensMax = 4;

/** The values of the console's cookies. */
function tokensOf({ host, headers }: Omit<CookieRequest, 'method'>): string[] {
  const cookies = String(headers['cookie'] ?? '')
    .split(';')
    .map((one) => one.trim());
  const valuesOf = (name: string) =>
    cookies.filter((one) => one.startsWith(`${name}=`)).map((one) => one.slice(name.length + 1));
  // A neighbouring host could have set the cookie without the prefix.
  const hostname = URL.parse(`http://${host}`)?.hostname ?? '';
  const values = [...valuesOf(secureName), ...(isLoopback(hostname) ? valuesOf(plainName) : [])];
  return [...new Set(values)].slice(0, tokensMax);
}

function cookieOf(name: string, value: string, more = ''): string {
  return `${name}=${value}; ${name === secureName ? 'Secure; ' : ''}HttpOnly; SameSite=Strict; Path=/${more}`;
}

export interface PrincipalOptions {
  readonly authenticate: Authenticate;
  /** For requests that the server sends to itself, which may also have an access token for `/mcp`. Null for all others. */
  readonly authenticateInner: () => Authenticate | null;
  /** Null without a console: cookies are then ignored. */
  readonly sessions: ConsoleSessions | null;
}

/** Authenticates by the key, or without one by the console session. */
export async function principalOf(
  request: FastifyRequest,
  { authenticate, authenticateInner, sessions }: PrincipalOptions,
): Promise<Principal> {
  const { authorization } = request.headers;
  const inner = authenticateInner();
  if (inner !== null) return await inner(authorization, request.ip);
  if (sessions === null || authorization !== undefined || tokensOf(request).length === 0)
    return await authenticate(authorization, request.ip);
  return (await sessionOf(request, sessions)).principal;
}

export async function sessionOf(request: FastifyRequest, sessions: ConsoleSessions): Promise<ConsoleSession> {
  assertFromConsole(request);
  const tokens = tokensOf(request);
  const found = (await Promise.all(tokens.map((token) => sessions.sessionOf(token)))).filter(
    (one) => one !== null,
  );
  const [session, another] = found;
  // Two valid sessions: one was planted, and it is unknown which. Signing in ends both.
  if (session && !another) return session;
  throw new Failure('unauthenticated', 'You are not signed in, or your session has ended. Sign in.');
}

/** Decided without the session, so that the answer reveals nothing about the cookie. */
function assertFromConsole(request: FastifyRequest): void {
  if (isFromConsole(request)) return;
  throw new Failure(
    'unauthenticated',
    'A session works only for requests of the console itself. Send an API key as "Authorization: Bearer <API_KEY>".',
  );
}

export interface ConsoleSessionOptions {
  readonly authenticate: Authenticate;
  readonly sessions: ConsoleSessions;
  readonly limits: RateLimits;
}

const linkSchema = z.strictObject({ code: z.string() }).readonly();
const signInSchema = z.union([z.strictObject({ key: z.string() }).readonly(), linkSchema]);

/** Sign-in, sign-out, and sign-in links. */
export function addConsoleSession(app: FastifyInstance, options: ConsoleSessionOptions): void {
  const { authenticate, sessions, limits } = options;
  const url = '/console/session';
  app.post(url, {
    config: { operation: 'SignIn' },
    onRequest: async (request) => assertFromConsole(request),
    handler: async (request, reply) => {
      const name = cookieNameFor(request);
      const { session, token } = await signIn(request, reply, options);
      request.principal = session.principal;
      reply.header('set-cookie', cookieOf(name, token));
      return toAnswer(session);
    },
  });
  app.get(url, { config: { operation: 'GetSession' } }, async (request) => {
    const session = await sessionOf(request, sessions);
    request.principal = session.principal;
    return toAnswer(session);
  });
  app.delete(url, {
    config: { operation: 'SignOut' },
    onRequest: async (request) => assertFromConsole(request),
    handler: async (request, reply) => {
      await sessions.signOut(tokensOf(request), request.id);
      const cleared = [secureName, plainName].map((name) => cookieOf(name, '', '; Max-Age=0'));
      return await reply.header('set-cookie', cleared).code(204).send();
    },
  });
  app.post('/console/links/account', {
    config: { operation: 'GetLinkAccount' },
    onRequest: async (request) => assertFromConsole(request),
    handler: async ({ body, ip }) => {
      const link = linkSchema.safeParse(body);
      if (!link.success) throw badField('code', 'Send {"code": "<code of a link>"}.');
      const { accountName } = await sessions.accountOfLink(link.data.code, ip);
      return { account_name: accountName };
    },
  });
  app.post('/console/links', {
    config: { operation: 'CreateConsoleLink' },
    // With a key only: a session must not prolong itself.
    onRequest: async (request, reply) => {
      const principal = await authenticate(request.headers.authorization, request.ip);
      request.principal = principal;
      admit(limits, principal, reply);
    },
    handler: async ({ principal, protocol, host }) => {
      if (!principal) throw new Error('a request reached its handler without a principal');
      const { code, expiresAt } = await sessions.createLink(principal);
      // In the fragment, which browsers do not send: no log and no proxy sees it.
      return { url: `${protocol}://${host}/#code=${code}`, expires_at: expiresAt.toISOString() };
    },
  });
}

async function signIn(request: FastifyRequest, reply: FastifyReply, options: ConsoleSessionOptions) {
  const { authenticate, sessions, limits } = options;
  const body = signInSchema.safeParse(request.body);
  if (!body.success) {
    throw new Failure('invalid_argument', 'Send {"key": "<API_KEY>"} or {"code": "<code of a link>"}.', {
      details: { violations: [] },
    });
  }
  const former = { formerTokens: tokensOf(request), requestId: request.id };
  if ('code' in body.data) return await sessions.signInWithCode(body.data.code, request.ip, former);
  const principal = await authenticate(`Bearer ${body.data.key}`, request.ip).catch(asTypedKey);
  admit(limits, principal, reply);
  const signedIn = await sessions.signInWithKey(principal, former);
  if (!signedIn) throw typedKeyRefused();
  return signedIn;
}

/** A person typed the key: an answer about the header of requests would not help. */
function asTypedKey(error: unknown): never {
  throw error instanceof Failure && error.code === 'unauthenticated' ? typedKeyRefused() : error;
}

function typedKeyRefused(): Failure {
  return new Failure(
    'unauthenticated',
    'This API key is not valid. Check that you copied all of it. If it was revoked, use another one.',
  );
}

/** Counts as a change of the account, because each sign-in adds a row. */
export function admit(limits: RateLimits, principal: Principal, reply: FastifyReply): void {
  const admission = limits.admit(principal, { changes: true });
  reply.headers(admission.headers);
  admission.release();
  if (admission.refusal) throw admission.refusal;
}

function toAnswer({ principal: { accountId, keyId, scopes }, accountName, expiresAt }: ConsoleSession) {
  return {
    account_id: accountId,
    account_name: accountName,
    key_id: keyId,
    scopes,
    expires_at: expiresAt.toISOString(),
  };
}
