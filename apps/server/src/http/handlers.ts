import type { Readable } from 'node:stream';
import { type AnswerOf, type Operation, type OperationId, violationsOf } from '@earshot/contract';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Call, EventStream, FileAnswer } from '../accounts/call.ts';
import type { Change } from '../accounts/change.ts';
import { type AnswerOnce, readIdempotencyKey } from '../accounts/idempotency.ts';
import type { KeyWatch } from '../accounts/key-watch.ts';
import { assertScope, keyRefused } from '../accounts/keys.ts';
import type { RateLimits } from '../accounts/rate-limits.ts';
import type { Telemetry } from '../observability/telemetry.ts';
import { Failure } from '../runtime/failure.ts';
import { type PrincipalOptions, principalOf } from './console-session.ts';
import { eventStreamHeaders, sendEvents } from './sse-writer.ts';

/**
 * A handler for every operation of the contract; a missing one does not compile. A Readable is JSON text that is too long for
 * memory. An EventStream is sent as server-sent events, a FileAnswer as it is.
 */
export type Handlers = {
  readonly [Id in OperationId]: (
    call: Call<Id>,
  ) => Promise<AnswerOf<Id> | Readable | EventStream | FileAnswer>;
};

export interface OperationOptions extends PrincipalOptions {
  readonly handlers: Handlers;
  readonly keyWatch: Pick<KeyWatch, 'watch'>;
  readonly limits: RateLimits;
  readonly answerOnce: AnswerOnce;
  readonly telemetry: Telemetry;
  /** Aborted when the node begins to shut down. */
  readonly leaving: AbortSignal;
}

interface RequestState {
  /** Aborted when the key is no longer valid. */
  readonly keyEnded: AbortSignal;
  readonly idempotencyKey: string | null;
  /** The request no longer counts as in progress. */
  readonly release: () => void;
}

/** Every operation is also at `/api.<Name>`, which takes POST unless it is a stream. */
export function addOperation(
  app: FastifyInstance,
  options: OperationOptions,
  operation: Operation & { id: OperationId },
): void {
  const { id, path, method, stream = false } = operation;
  const methods = method === 'GET' && !stream ? ['GET', 'POST'] : [method];
  for (const url of new Set([path, `/api.${id}`])) addRoute(app, options, operation, { url, methods });
}

/** Authenticate, limit, authorise, parse, act, answer: in this order for every operation. */
function addRoute(
  app: FastifyInstance,
  options: OperationOptions,
  operation: Operation & { id: OperationId },
  { url, methods }: { readonly url: string; readonly methods: string[] },
): void {
  const { handlers, keyWatch, limits, answerOnce, telemetry, leaving } = options;
  // The request is parsed by the schema of this operation, which the union of all operations cannot express.
  const carryOut = handlers[operation.id] as (call: Call<never>) => ReturnType<Handlers[OperationId]>;
  const states = new WeakMap<FastifyRequest, RequestState>();
  app.route({
    method: methods,
    url,
    config: { operation: operation.id },
    // Before the body is read: a request without a key, or above a limit, costs no parsing.
    onRequest: async (request, reply) => {
      const principal = await principalOf(request, options);
      request.principal = principal;
      const admission = limits.admit(principal, operation);
      // Watched from here on, because a body may take a minute to arrive.
      const watch = keyWatch.watch(principal);
      onceClosed(reply, () => {
        admission.release();
        watch[Symbol.dispose]();
      });
      reply.headers(admission.headers);
      if (admission.refusal) throw admission.refusal;
      if (operation.scope !== null) assertScope(principal, operation.scope);
      const idempotencyKey = operation.changes
        ? readIdempotencyKey(request.headers['idempotency-key'])
        : null;
      states.set(request, { keyEnded: watch.ended, idempotencyKey, release: () => admission.release() });
    },
    handler: async (request, reply) => {
      const { principal } = request;
      const state = states.get(request);
      if (!principal || !state) throw new Error('a request reached its handler without a principal');
      const { keyEnded, idempotencyKey: key } = state;
      if (keyEnded.aborted) throw keyRefused();
      const parsed = parse(operation, request);
      const signal = endOf(reply, [leaving, keyEnded]);
      const { accountId, keyId: actor } = principal;
      const lastEventId = request.headers['last-event-id']?.toString() ?? null;
      const handle = (claim: Change['claim']) => {
        const change = { accountId, actor, operation: operation.id, requestId: request.id, claim };
        return carryOut({ principal, request: parsed as never, change, signal, lastEventId });
      };
      reply.header('content-type', 'application/json; charset=utf-8');
      if (key === null) {
        const answer = await handle(null);
        if (isEventStream(answer)) return startStream(reply, answer, { ...state, signal, telemetry });
        if (isFile(answer)) return startFile(reply, answer, { ...state, signal });
        // The result of a change is always sent: an error would suggest that it was not made.
        if (!operation.changes) endWithKey(reply, keyEnded);
        return reply.send(answer);
      }
      const asOnce = { accountId, operation: operation.id, key, request: parsed };
      const { body, replayed } = await answerOnce(asOnce, handle);
      if (replayed) reply.header('idempotent-replayed', 'true');
      return reply.send(body);
    },
  });
}

/** A client that disconnected while its key was looked up emits no "close" any more. */
function onceClosed({ raw }: FastifyReply, act: () => void): void {
  if (raw.destroyed) act();
  else raw.once('close', act);
}

/** Not `AbortSignal.any`, which checks all its sources whenever it is read: a stream reads it with every event. */
function endOf(reply: FastifyReply, ends: readonly AbortSignal[]): AbortSignal {
  const gone = new AbortController();
  const end = () => gone.abort(over);
  for (const signal of ends) {
    if (signal.aborted) end();
    else signal.addEventListener('abort', end);
  }
  onceClosed(reply, () => {
    for (const signal of ends) signal.removeEventListener('abort', end);
    end();
  });
  return gone.signal;
}

/** Reused for every request: a new reason with a stack trace would cost more than parsing the request. */
const over = new Error('the request is over');

/** Also ends an answer that is partly sent. */
function endWithKey(reply: FastifyReply, keyEnded: AbortSignal): void {
  if (keyEnded.aborted) throw keyRefused();
  keyEnded.addEventListener('abort', () => reply.raw.destroy(), { once: true });
}

function isEventStream(answer: object): answer is EventStream {
  return 'onMore' in answer;
}

function isFile(answer: object): answer is FileAnswer {
  return 'file' in answer;
}

/** A client that receives nothing for so long is disconnected. It can continue later. */
const fileSilenceMsMax = 120_000;

/**
 * The framework sends the file with backpressure, closes it when the client leaves, and cuts the connection if it fails: only a
 * complete file has an end. It no longer counts as in progress.
 */
function startFile(
  reply: FastifyReply,
  { file, headers }: FileAnswer,
  { signal, release }: RequestState & { signal: AbortSignal },
): FastifyReply {
  release();
  signal.addEventListener('abort', () => file.destroy(fileIsCut), { once: true });
  reply.raw.setTimeout(fileSilenceMsMax, () => file.destroy(fileIsCut));
  return reply.headers(headers).send(file);
}

const fileIsCut = new Error('the file is cut, and can be continued');

/** Takes the answer from the framework, which would wait for its end. It no longer counts as in progress. */
function startStream(
  reply: FastifyReply,
  answer: EventStream,
  { signal, keyEnded, release, telemetry }: RequestState & { signal: AbortSignal; telemetry: Telemetry },
): FastifyReply {
  release();
  reply.hijack();
  reply.headers(eventStreamHeaders);
  const headers = Object.entries(reply.getHeaders()).map(([name, value]) => [name, String(value)]);
  reply.raw.removeHeader('transfer-encoding');
  reply.raw.writeHead(200, Object.fromEntries(headers));
  telemetry.matchStreamOpened();
  void sendEvents(reply.raw, answer, { signal, keyEnded }).then((ended) => {
    answer[Symbol.dispose]();
    telemetry.matchStreamClosed({ ...ended, ms: reply.elapsedTime });
  });
  return reply;
}

function parse(operation: Operation, request: FastifyRequest): unknown {
  const { query, body = {} } = request;
  const parsed = operation.request.safeParse(request.method === 'GET' ? query : body);
  if (parsed.success) return parsed.data;
  const violations = violationsOf(parsed.error);
  const [first] = violations;
  const message = first?.field ? `${first.field}: ${first.message}` : (first?.message ?? 'Not valid.');
  throw new Failure('invalid_argument', message, { details: { violations } });
}
