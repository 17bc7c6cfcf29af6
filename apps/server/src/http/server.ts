import { isUtf8 } from 'node:buffer';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { isWellFormedKey, operations } from '@earshot/contract';
import Fastify, { errorCodes, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Principal } from '../accounts/call.ts';
import type { ReadFeed } from '../feeds/read-feed.ts';
import type { AuthorizationServer } from '../oauth/authorization-server.ts';
import type { ResourceServer } from '../oauth/resource-server.ts';
import type { Logger } from '../observability/logger.ts';
import { DatabaseUnreachable, Failure } from '../runtime/failure.ts';
import { newId } from '../runtime/ids.ts';
import { addAuthorize } from './authorize.ts';
import { addConsoleFiles } from './console-files.ts';
import { addConsoleSession } from './console-session.ts';
import { addDiscovery } from './discovery.ts';
import { bodyBytesMax, errorAnswer } from './error-answer.ts';
import { addFeeds } from './feeds.ts';
import { addOperation, type OperationOptions } from './handlers.ts';
import { addMcp, authenticateMcp, createInnerCalls } from './mcp.ts';
import { addAuthorizationServer, addResourceMetadata } from './oauth.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Null until the key is accepted. */
    principal: Principal | null;
    /** The feed that was read by its URL, for the log. */
    feed?: { readonly feedId: string; readonly accountId: string };
  }
  interface FastifyContextConfig {
    /** For logs and metrics: the operation that a route serves. */
    operation?: string;
  }
}

export interface HttpServerOptions extends Omit<OperationOptions, 'leaving' | 'authenticateInner'> {
  readonly isReady: () => Promise<string[]>;
  readonly mcpConfirmUsd: number;
  /** The address of the installation; null if it is not configured. */
  readonly publicUrl: string | null;
  /** `/mcp` for programs that were authorized by OAuth; null if only keys are accepted. */
  readonly resourceServer: ResourceServer | null;
  /** Earshot's own authorization server; null if another one is used, or none. */
  readonly authorizationServer: AuthorizationServer | null;
  readonly readFeed: ReadFeed;
  /** The folder of the console's build. */
  readonly consoleFolder: string;
  /** Addresses and ranges whose `X-Forwarded-For` is trusted. The caller is the last address in it that is not one of them. */
  readonly trustedProxies: readonly string[];
  readonly log: Logger;
}

export interface HttpServer extends AsyncDisposable {
  listen(host: string, port: number): Promise<string>;
  /** Refuses every new request with `unavailable` from now on, and answers those that wait for matches at once. */
  drain(): void;
}

/** Stops browsers from guessing a content type. */
const noSniffing = { 'x-content-type-options': 'nosniff' };

/** How long a shutdown waits for answers in progress. */
const answerWithinMs = 15_000;

/** Requests are parsed by the contract. Otherwise the framework would load two JSON Schema compilers at every start. */
function noSchemas(): never {
  throw new Error('a route has a JSON Schema: its request must be parsed by the contract');
}

const leftOut = {
  // Node's own answer would not have the form of Earshot's errors: a hook refuses instead.
  http: { requireHostHeader: false },
  schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
};

export function createHttpServer(options: HttpServerOptions): HttpServer {
  const leaving = new AbortController();
  const app = Fastify({
    bodyLimit: bodyBytesMax,
    trustProxy: [...options.trustedProxies],
    exposeHeadRoutes: false,
    // An address with a slash at its end plus a path: people paste both.
    routerOptions: { ignoreDuplicateSlashes: true },
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    requestTimeout: 60_000,
    keepAliveTimeout: 65_000,
    genReqId: (request) => requestIdOf(request.headers['x-request-id']),
    frameworkErrors: (error, request, reply) => {
      void sendError(options, error, request, reply);
    },
    clientErrorHandler: (error, socket) => refuseBrokenHttp(options, error, socket),
    ...leftOut,
  });
  app.decorateRequest('principal', null);
  const answers = trackAnswers(app.server);
  // RFC 9110, 10.1.1 allows an unknown expectation to be ignored; Node's own refusal has no body.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  readJsonOnly(app);
  const innerCalls = createInnerCalls(app);
  const assertFraming = createFramingCheck();
  app.addHook('onRequest', async (request, reply) => {
    reply.headers({ 'x-request-id': request.id, 'cache-control': 'no-store', ...noSniffing });
    // A request of an MCP tool is part of a request that is already in progress.
    const isNew = !innerCalls.isInner() && request.routeOptions.url !== '/healthz';
    if (leaving.signal.aborted && isNew) {
      throw new Failure('unavailable', 'This node is shutting down. Send the request again.', {
        details: { reason: 'shutting_down' },
        retryAfterSeconds: 1,
      });
    }
    assertFraming(request, reply);
  });
  app.addHook('onSend', async (_request, reply) => {
    if (leaving.signal.aborted) reply.header('connection', 'close');
  });
  app.addHook('onResponse', async (request, reply) => logAnswer(options, request, reply));
  app.setErrorHandler((error, request, reply) => sendError(options, error, request, reply));
  const showConsole = addConsole(app, options);
  app.setNotFoundHandler((request, reply) => {
    const methods = methodsOf(app, request);
    // A person in a browser gets the page of the console that says so.
    const isBrowser = request.method === 'GET' && request.headers.accept?.includes('text/html') === true;
    if (showConsole && isBrowser && methods.length === 0) return showConsole(request, reply.code(404));
    if (methods.length > 0) reply.header('allow', methods.join(', '));
    return sendError(options, noSuchRoute(request, methods), request, reply);
  });
  addDiscovery(app, { isReady: options.isReady });
  addMcp(app, { ...options, innerCalls });
  addOAuth(app, options);
  addFeeds(app, options);
  const inner = authenticateMcp(options);
  const authenticateInner = () => (innerCalls.isInner() ? inner : null);
  for (const operation of Object.values(operations))
    addOperation(app, { ...options, authenticateInner, leaving: leaving.signal }, operation);
  return {
    listen: (host, port) => listen(app, { host, port, log: options.log }),
    drain() {
      leaving.abort();
      // If the headers were already sent, the answer cannot have "close". The idle connection must end soon.
      app.server.keepAliveTimeout = 1;
    },
    async [Symbol.asyncDispose]() {
      leaving.abort();
      // Not the framework's `close` yet: after it, requests of MCP tools in progress would be refused.
      app.server.close();
      await answers.finished(answerWithinMs);
      app.server.closeAllConnections();
      await app.close();
    },
  };
}

async function listen(
  app: FastifyInstance,
  { log, ...where }: { host: string; port: number; log: Logger },
): Promise<string> {
  const address = await app.listen(where);
  // A connection that cannot be accepted, for instance without a free file descriptor, must not end the process.
  app.server.on('error', (err) => log.warn({ err }, 'a connection was not accepted'));
  return address;
}

/** Returns the handler that sends the page of the console; null without a console. */
function addConsole(app: FastifyInstance, { sessions, consoleFolder, ...options }: HttpServerOptions) {
  if (sessions === null) return null;
  const { authorizationServer } = options;
  addConsoleSession(app, { ...options, sessions });
  if (authorizationServer) addAuthorize(app, { ...options, sessions, authorizationServer });
  return addConsoleFiles(app, consoleFolder);
}

function addOAuth(app: FastifyInstance, { resourceServer, authorizationServer }: HttpServerOptions): void {
  if (resourceServer) addResourceMetadata(app, resourceServer);
  if (authorizationServer) addAuthorizationServer(app, authorizationServer);
}

/** Refuses requests that a proxy may have parsed differently, and all that follow on the connection. */
function createFramingCheck() {
  const distrusted = new WeakSet<Socket>();
  return ({ raw }: FastifyRequest, reply: FastifyReply) => {
    const isDistrusted = distrusted.has(raw.socket);
    const problem = isDistrusted
      ? 'The previous request on this connection was refused. Open a new connection.'
      : framingProblem(raw);
    if (problem === null) return;
    // The sender may regard what follows as a part of this request, and Node has already read it.
    distrusted.add(raw.socket);
    reply.header('connection', 'close');
    throw new Failure('invalid_argument', problem, { details: { violations: [] } });
  };
}

function framingProblem({ httpVersion, headers, rawHeaders }: IncomingMessage): string | null {
  if (httpVersion === '1.1' && headers.host === undefined) return 'Send a "Host" header.';
  // RFC 9112, 6.1: HTTP/1.0 has no chunks, so the end of the body is unknown.
  if (httpVersion === '1.0' && headers['transfer-encoding'] !== undefined)
    return 'HTTP/1.0 does not support "Transfer-Encoding". Send "Content-Length", or use HTTP/1.1.';
  for (const once of ['host', 'authorization']) {
    // Node keeps the first header and drops the others.
    const times = rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === once).length;
    if (times > 1) return `Send one "${once}" header, not ${times}.`;
  }
  return null;
}

/**
 * Reads JSON. An empty body becomes undefined, whatever its content type: many clients send no body in place of `{}`, some of them with
 * another type. The framework's own parser would replace bytes that are not UTF-8 with replacement characters.
 */
function readJsonOnly(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    if (body.length === 0) done(null, undefined);
    else if (isUtf8(body)) void parse(request, body.toString(), done);
    else done(new Failure('invalid_argument', 'The body is not UTF-8.', { details: { violations: [] } }));
  });
  app.addContentTypeParser<Buffer>('*', { parseAs: 'buffer' }, ({ is404 }, body, done) => {
    if (body.length === 0 || is404) done(null, undefined);
    else done(new errorCodes.FST_ERR_CTP_INVALID_MEDIA_TYPE());
  });
}

/** The methods of the path; none if it does not exist. */
function methodsOf(app: FastifyInstance, request: FastifyRequest): readonly string[] {
  const url = pathOf(request);
  return (['GET', 'POST'] as const).filter((method) => app.hasRoute({ method, url }));
}

function noSuchRoute(request: FastifyRequest, methods: readonly string[]): Failure {
  if (methods.length === 0)
    return new Failure('not_found', 'The path does not exist. /openapi.json and /docs list all paths.');
  const path = pathOf(request);
  return new Failure(
    'unimplemented',
    `${path} does not support ${request.method}. Send ${methods.join(' or ')}.`,
  );
}

function pathOf({ url }: FastifyRequest): string {
  return url.split('?')[0] ?? '';
}

function sendError(
  { log }: HttpServerOptions,
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const answer = errorAnswer(error, request.id);
  if (answer.isOurFault)
    log.error({ err: error, requestId: request.id }, 'request failed with an internal error');
  // An outage of PostgreSQL is one log line, however many requests it refuses.
  else if (error instanceof Error && error.cause && !(error instanceof DatabaseUnreachable)) {
    log.warn({ err: error.cause, requestId: request.id, code: answer.body.code }, 'request refused');
  }
  return reply
    .code(answer.status)
    .headers({ 'x-request-id': request.id, ...noSniffing, ...answer.headers, ...challengeIn(reply) })
    .header('content-type', 'application/json; charset=utf-8')
    .send(JSON.stringify(answer.body));
}

/** A route with a more specific challenge has already set it. */
function challengeIn(reply: FastifyReply): Record<string, string> {
  const challenge = reply.getHeader('www-authenticate');
  return challenge === undefined ? {} : { 'www-authenticate': String(challenge) };
}

function logAnswer({ telemetry }: HttpServerOptions, request: FastifyRequest, reply: FastifyReply): void {
  telemetry.requestAnswered({
    operation: request.routeOptions.config.operation ?? 'other',
    status: reply.statusCode,
    ms: reply.elapsedTime,
    requestId: request.id,
    address: request.ip,
    principal: request.principal,
    ...request.feed,
  });
}

function brokenHttp(code: string | undefined): string {
  if (code === 'HPE_HEADER_OVERFLOW') return 'The headers are too large. Send at most 16 KiB.';
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return 'The request did not arrive in time. Send it again.';
  return 'This is not a valid HTTP request.';
}

/** Answers bytes that are not HTTP in the form of Earshot's errors. */
function refuseBrokenHttp(
  { telemetry }: HttpServerOptions,
  error: Error & { code?: string },
  socket: Socket,
): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const requestId = requestIdOf(undefined);
  const address = socket.remoteAddress ?? '';
  telemetry.requestAnswered({ operation: 'other', status: 400, ms: 0, requestId, address, principal: null });
  const failure = new Failure('invalid_argument', brokenHttp(error.code));
  const body = JSON.stringify(errorAnswer(failure, requestId).body);
  socket.end(
    [
      'HTTP/1.1 400 Bad Request',
      'content-type: application/json; charset=utf-8',
      'x-content-type-options: nosniff',
      `x-request-id: ${requestId}`,
      `content-length: ${Buffer.byteLength(body)}`,
      'connection: close',
      '',
      body,
    ].join('\r\n'),
  );
}

const usableId = /^[A-Za-z0-9._-]{1,128}$/;

/** The caller's id if it is usable, so that its logs match Earshot's. Not if it looks like an API key: it would be logged. */
function requestIdOf(sent: string | string[] | undefined): string {
  return typeof sent === 'string' && usableId.test(sent) && !isWellFormedKey(sent) ? sent : newId('req');
}

/**
 * Counts the requests in progress. It does not wait for all connections: Node does not treat a connection without any request as
 * idle, and a single one would delay a shutdown by a minute.
 */
function trackAnswers(server: Server) {
  const underWay = new Set<ServerResponse>();
  const waiting = new Set<() => void>();
  server.on('request', (_request, response) => {
    underWay.add(response);
    response.once('close', () => {
      underWay.delete(response);
      if (underWay.size === 0) for (const wake of waiting) wake();
    });
  });
  return {
    /** Resolves when the last answer was sent, or after `withinMs`. */
    async finished(withinMs: number): Promise<void> {
      if (underWay.size === 0) return;
      const deadline = new AbortController();
      const allSent = new Promise<void>((resolve) => waiting.add(resolve));
      await Promise.race([allSent, sleep(withinMs, null, { signal: deadline.signal }).catch(() => null)]);
      deadline.abort();
    },
  };
}
