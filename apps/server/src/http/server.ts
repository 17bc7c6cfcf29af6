import { isUtf8 } from 'node:buffer';
import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { isWellFormedKey, operations } from '@earshot/contract';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Logger } from '../observability/logger.ts';
import { Failure } from '../runtime/failure.ts';
import { newId } from '../runtime/ids.ts';
import { addDiscovery } from './discovery.ts';
import { bodyBytesMax, errorAnswer, failureText } from './error-answer.ts';
import { addOperation, type OperationOptions } from './handlers.ts';
import { addMcp, createInnerCalls } from './mcp.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** For logs and metrics: the operation that a route serves. */
    operation?: string;
  }
}

export interface HttpServerOptions extends Omit<OperationOptions, 'leaving'> {
  readonly isReady: () => Promise<string[]>;
  readonly mcpOrigins: readonly string[];
  /** Addresses and ranges whose `X-Forwarded-For` is believed. The caller is the last address in it that is not one of them. */
  readonly trustedProxies: readonly string[];
  readonly log: Logger;
}

export interface HttpServer extends AsyncDisposable {
  listen(host: string, port: number): Promise<string>;
  /** From now on every new request is refused with `unavailable`; those that wait for matches are answered at once. */
  drain(): void;
}

/** How long a shutdown waits for answers that are under way. */
const answerWithinMs = 15_000;

export function createHttpServer(options: HttpServerOptions): HttpServer {
  const leaving = new AbortController();
  const app = Fastify({
    bodyLimit: bodyBytesMax,
    trustProxy: [...options.trustedProxies],
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
    // Node's own answer would not have the form of our errors: the hook below refuses instead.
    http: { requireHostHeader: false },
  });
  const answers = trackAnswers(app.server);
  // RFC 9110, 10.1.1 allows to ignore an unknown expectation; Node's own refusal has no body.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  readJsonOnly(app);
  const innerCalls = createInnerCalls(app);
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id);
    reply.header('cache-control', 'no-store');
    // A request of an MCP tool belongs to one that is under way already.
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
      // An answer whose headers were sent already cannot say "close" any more: its connection must not stay idle for long.
      app.server.keepAliveTimeout = 1;
    },
    async [Symbol.asyncDispose]() {
      leaving.abort();
      // Not the framework yet: once it is closed, it refuses the requests of MCP tools that are under way.
      app.server.close();
      await answers.finished(answerWithinMs);
      app.server.closeAllConnections();
      await app.close();
    },
  };
}

/** The framework's own parser would replace bytes that are not UTF-8 by replacement characters. */
function readJsonOnly(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    if (isUtf8(body)) void parse(request, body.toString(), done);
    else done(new Failure('invalid_argument', 'The body is not UTF-8.', { details: { violations: [] } }));
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

function logAnswer({ telemetry }: HttpServerOptions, request: FastifyRequest, reply: FastifyReply): void {
  telemetry.requestAnswered({
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

/** Bytes that are not HTTP are answered in the form of our errors too. */
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

const usableId = /^[A-Za-z0-9._-]{1,128}$/;

/** The caller's id if it is usable, so that its logs and ours can be joined. An API key is not: it would be logged. */
function requestIdOf(sent: string | string[] | undefined): string {
  return typeof sent === 'string' && usableId.test(sent) && !isWellFormedKey(sent) ? sent : newId('req');
}

/**
 * Counts the requests that are being answered. Waiting for all connections instead would not do: Node does not count a
 * connection on which nothing was sent yet as idle, and one of them would delay a shutdown by a minute.
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
    /** Resolves when the last answer was sent, at the latest after `withinMs`. */
    async finished(withinMs: number): Promise<void> {
      if (underWay.size === 0) return;
      const deadline = new AbortController();
      const allSent = new Promise<void>((resolve) => waiting.add(resolve));
      await Promise.race([allSent, sleep(withinMs, null, { signal: deadline.signal }).catch(() => null)]);
      deadline.abort();
    },
  };
}
