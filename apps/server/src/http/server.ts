import { isUtf8 } from 'node:buffer';
import type { Socket } from 'node:net';
import { type Operation, type OperationId, operations, violationsOf } from '@earshot/contract';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Authenticate } from '../accounts/authenticate.ts';
import type { Call, EventStream, Principal } from '../accounts/call.ts';
import type { Change } from '../accounts/change.ts';
import { type AnswerOnce, readIdempotencyKey } from '../accounts/idempotency.ts';
import type { RateLimits } from '../accounts/rate-limits.ts';
import type { Events } from '../observability/events.ts';
import type { Logger } from '../observability/logger.ts';
import { Failure } from '../runtime/failure.ts';
import { trackAnswers } from './answers-under-way.ts';
import { addDiscovery } from './discovery.ts';
import { bodyBytesMax, errorAnswer, failureText } from './error-answer.ts';
import type { Handlers } from './handlers.ts';
import { createInnerCalls } from './inner-calls.ts';
import { addMcp } from './mcp.ts';
import { requestIdOf } from './request-id.ts';
import { eventStreamHeaders, sendEvents } from './sse-writer.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** For logs and metrics: the operation that a route serves. */
    operation?: string;
  }
}

export interface HttpServerOptions {
  readonly handlers: Handlers;
  readonly authenticate: Authenticate;
  readonly limits: RateLimits;
  readonly answerOnce: AnswerOnce;
  readonly isReady: () => Promise<string[]>;
  readonly mcpOrigins: readonly string[];
  readonly events: Events;
  readonly log: Logger;
}

export interface HttpServer extends AsyncDisposable {
  listen(host: string, port: number): Promise<string>;
  /** From now on every request is refused with `unavailable`; those under way go on, and those that wait are answered. */
  drain(): void;
}

/** How long a shutdown waits for the answers that are under way. */
const answerWithinMs = 15_000;

export function createHttpServer(options: HttpServerOptions): HttpServer {
  const leaving = new AbortController();
  const app = Fastify({
    bodyLimit: bodyBytesMax,
    exposeHeadRoutes: false,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    requestTimeout: 60_000,
    keepAliveTimeout: 65_000,
    genReqId: (request) => requestIdOf(request.headers['x-request-id']),
    frameworkErrors: (error, request, reply) => {
      void sendError(options, error, request, reply);
    },
    clientErrorHandler: refuseBrokenHttp,
    // Node itself would answer without the error shape: the hook below refuses instead.
    http: { requireHostHeader: false },
  });
  const answers = trackAnswers(app.server);
  // As RFC 9110, 10.1.1 allows, an expectation that we do not know is ignored; Node's own answer has no body.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  readJsonOnly(app);
  const innerCalls = createInnerCalls(app);
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id);
    reply.header('cache-control', 'no-store');
    // What a tool asks for belongs to a request that is under way.
    const isNew = !innerCalls.isInner() && request.url !== '/healthz';
    if (leaving.signal.aborted && isNew) {
      throw new Failure('unavailable', 'This node is shutting down: try again.', { retryAfterSeconds: 1 });
    }
    if (request.raw.httpVersion === '1.1' && request.headers.host === undefined) {
      throw new Failure('invalid_argument', 'Send a "Host" header.', { details: { violations: [] } });
    }
  });
  app.addHook('onSend', async (_request, reply) => {
    if (leaving.signal.aborted) reply.header('connection', 'close');
  });
  app.addHook('onResponse', async (request, reply) => logAnswer(options, request, reply));
  app.setErrorHandler((error, request, reply) => sendError(options, error, request, reply));
  app.setNotFoundHandler((request, reply) => sendError(options, noSuchPath(app, request), request, reply));
  addDiscovery(app, { isReady: options.isReady });
  addMcp(app, { ...options, innerCalls });
  for (const operation of Object.values(operations))
    addOperation(app, { ...options, leaving: leaving.signal }, operation);
  return {
    listen: (host, port) => app.listen({ host, port }),
    drain() {
      leaving.abort();
      // An answer whose headers are out already cannot say "close" any more: its connection must not idle for long.
      app.server.keepAliveTimeout = 1;
    },
    async [Symbol.asyncDispose]() {
      leaving.abort();
      // Not the framework yet: once it closes, it refuses what tools that are under way still ask of it.
      app.server.close();
      await answers.finished(answerWithinMs);
      app.server.closeAllConnections();
      await app.close();
    },
  };
}

/** The framework's parser would put replacement characters in the place of bytes that are no UTF-8. */
function readJsonOnly(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    if (isUtf8(body)) void parse(request, body.toString(), done);
    else done(new Failure('invalid_argument', 'The body is not UTF-8.', { details: { violations: [] } }));
  });
}

interface Asked {
  readonly principal: Principal;
  readonly idempotencyKey: string | null;
  readonly release: () => void;
}

/** Authenticate, limit, authorise, parse, act, answer: in this order for every operation. */
function addOperation(
  app: FastifyInstance,
  options: HttpServerOptions & { leaving: AbortSignal },
  operation: Operation & { id: OperationId },
): void {
  const { handlers, authenticate, limits, answerOnce, events, leaving } = options;
  // The schema of this very operation parses what it is called with; the union of all operations cannot say that.
  const carryOut = handlers[operation.id] as (call: Call<never>) => ReturnType<Handlers[OperationId]>;
  const asking = new WeakMap<FastifyRequest, Asked>();
  app.route({
    method: operation.method,
    url: operation.path,
    config: { operation: operation.id },
    // Before the body is read: who has no key, or asks too often, does not make us parse anything.
    onRequest: async (request, reply) => {
      const principal = await authenticate(request.headers.authorization, request.ip);
      const admission = limits.admit(principal, operation);
      // Who has gone while its key was looked up sends no "close" any more.
      if (reply.raw.destroyed) admission.release();
      else reply.raw.once('close', () => admission.release());
      reply.headers(admission.headers);
      if (admission.refusal) throw admission.refusal;
      assertScope(principal, operation);
      const idempotencyKey = operation.changes
        ? readIdempotencyKey(request.headers['idempotency-key'])
        : null;
      asking.set(request, { principal, idempotencyKey, release: () => admission.release() });
    },
    handler: async (request, reply) => {
      const asked = asking.get(request);
      if (!asked) throw new Error('a request reached its handler without a principal');
      const { principal, idempotencyKey: key } = asked;
      const parsed = parse(operation, request);
      const gone = new AbortController();
      reply.raw.once('close', () => gone.abort());
      const signal = AbortSignal.any([gone.signal, leaving]);
      const { accountId, keyId: actor } = principal;
      const lastEventId = request.headers['last-event-id']?.toString() ?? null;
      const handle = (claim: Change['claim']) => {
        const change = { accountId, actor, operation: operation.id, requestId: request.id, claim };
        return carryOut({ principal, request: parsed as never, change, signal, lastEventId });
      };
      reply.header('content-type', 'application/json; charset=utf-8');
      if (key === null) {
        const answer = await handle(null);
        if (!isEventStream(answer)) return reply.send(answer);
        asked.release();
        return startStream(reply, answer, { signal, events });
      }
      const asOnce = { accountId, operation: operation.id, key, request: parsed };
      const { body, replayed } = await answerOnce(asOnce, handle);
      if (replayed) reply.header('idempotent-replayed', 'true');
      return reply.send(body);
    },
  });
}

function isEventStream(answer: object): answer is EventStream {
  return 'nextEvents' in answer;
}

/** From here on the answer is out of the framework's hands, which would wait for its end. */
function startStream(
  reply: FastifyReply,
  answer: EventStream,
  { signal, events }: { signal: AbortSignal; events: Events },
): FastifyReply {
  reply.hijack();
  reply.headers(eventStreamHeaders);
  const headers = Object.entries(reply.getHeaders()).map(([name, value]) => [name, String(value)]);
  reply.raw.writeHead(200, Object.fromEntries(headers));
  events.matchStreamOpened();
  void sendEvents(reply.raw, answer, { signal }).then((ended) => {
    answer[Symbol.dispose]();
    events.matchStreamClosed({ ...ended, ms: reply.elapsedTime });
  });
  return reply;
}

function parse(operation: Operation, request: FastifyRequest): unknown {
  const parsed = operation.request.safeParse(operation.method === 'GET' ? request.query : request.body);
  if (parsed.success) return parsed.data;
  const violations = violationsOf(parsed.error);
  const [first] = violations;
  const message = first?.field ? `${first.field}: ${first.message}` : (first?.message ?? 'Not valid.');
  throw new Failure('invalid_argument', message, { details: { violations } });
}

function assertScope(principal: Principal, { scope }: Operation): void {
  if (scope === null || principal.scopes.includes(scope)) return;
  throw new Failure('permission_denied', `The key lacks the scope "${scope}": use a key that has it.`, {
    details: { required_scope: scope },
  });
}

function noSuchPath(app: FastifyInstance, request: FastifyRequest): Failure {
  const url = request.url.split('?')[0] ?? '';
  const known = (['GET', 'POST'] as const).find((method) => app.hasRoute({ method, url }));
  return known
    ? new Failure('unimplemented', `${url} takes ${known}.`)
    : new Failure('not_found', 'There is no such path: see /docs for those that exist.');
}

function sendError(
  { log }: HttpServerOptions,
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const answer = errorAnswer(error, request.id);
  if (answer.isOurFault) log.error({ err: error, requestId: request.id }, 'request failed by our fault');
  else if (error instanceof Error && error.cause) {
    log.warn({ err: error.cause, requestId: request.id, code: answer.body.code }, 'request refused');
  }
  return reply
    .code(answer.status)
    .headers({ 'x-request-id': request.id, ...answer.headers })
    .header('content-type', 'application/json; charset=utf-8')
    .send(JSON.stringify(answer.body));
}

function logAnswer({ events }: HttpServerOptions, request: FastifyRequest, reply: FastifyReply): void {
  events.requestAnswered({
    operation: request.routeOptions.config.operation ?? 'other',
    status: reply.statusCode,
    ms: reply.elapsedTime,
    fields: { requestId: request.id },
  });
}

function brokenHttp(code: string | undefined): string {
  if (code === 'HPE_HEADER_OVERFLOW') return 'The headers are larger than 16 KiB: send less.';
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return 'The request did not arrive in time.';
  return 'This is not a valid HTTP request.';
}

/** Bytes that are no HTTP still get the error shape. */
function refuseBrokenHttp(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const requestId = requestIdOf(undefined);
  const body = failureText('invalid_argument', brokenHttp(error.code), requestId);
  socket.end(
    [
      'HTTP/1.1 400 Bad Request',
      'content-type: application/json; charset=utf-8',
      `x-request-id: ${requestId}`,
      `content-length: ${Buffer.byteLength(body)}`,
      'connection: close',
      '',
      body,
    ].join('\r\n'),
  );
}
