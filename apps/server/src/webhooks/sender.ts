import { Agent, type Dispatcher, request } from 'undici';
import { parseRetryAfterMs } from '../runtime/retry-after.ts';
import { type Attempt, type AttemptOutcome, outcomeOf } from './endpoint-state.ts';
import {
  AddressNotAllowed,
  createGuardedConnector,
  errorCodeOf,
  type GuardOptions,
} from './guarded-connector.ts';
import { createUrlProblem } from './public-address.ts';

export interface Message {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Posts messages to the public internet only. Never throws: every result is an attempt. */
export interface Sender {
  send(message: Message): Promise<Attempt>;
}

export type SenderOptions = Omit<GuardOptions, 'timeoutMs'> & {
  /** Time limit of the whole attempt, from resolving the name to reading the last byte. */
  readonly timeoutMs?: number;
};

const answerWithinMs = 15_000;
const answerBytesRead = 64 * 1024;
const answerBytesKept = 1024;
const userAgent = 'earshot/0.1 (+webhooks)';

export function createSender(options: SenderOptions): Sender & AsyncDisposable {
  const { allowInsecure, timeoutMs = answerWithinMs } = options;
  const urlProblem = createUrlProblem({ allowInsecure });
  const agent = new Agent({
    connect: createGuardedConnector({ ...options, timeoutMs }),
    allowH2: false,
    pipelining: 1,
    keepAliveTimeout: 4_000,
  });
  return {
    async send(message) {
      const startedAt = performance.now();
      const latencyMs = () => Math.round(performance.now() - startedAt);
      // Checked again, because the rules may have changed since the URL was configured.
      const problem = urlProblem(message.url);
      if (problem !== null) return unanswered({ kind: 'failed', retryAfterMs: null }, `URL: ${problem}`, 0);
      const deadline = AbortSignal.timeout(timeoutMs);
      try {
        const answer = await post(agent, message, deadline);
        return { ...(await attemptOf(answer)), latencyMs: latencyMs() };
      } catch (error) {
        if (deadline.aborted)
          return unanswered({ kind: 'failed', retryAfterMs: null }, 'no answer in time', latencyMs());
        return unansweredBecause(error, latencyMs());
      }
    },
    async [Symbol.asyncDispose]() {
      await agent.destroy();
    },
  };
}

/** Redirects are not followed, because the owner has not configured their targets. */
function post(agent: Agent, { url, headers, body }: Message, signal: AbortSignal) {
  return request(url, {
    method: 'POST',
    dispatcher: agent,
    headers: { 'content-type': 'application/json', ...headers, 'user-agent': userAgent },
    body,
    signal,
  });
}

async function attemptOf(answer: Dispatcher.ResponseData): Promise<Omit<Attempt, 'latencyMs'>> {
  const { statusCode: status, headers, body } = answer;
  const response = await firstBytes(body);
  const outcome = outcomeOf(status, parseRetryAfterMs(headers['retry-after'], Date.now()));
  return { outcome, status, message: null, response };
}

/** The status alone decides: an incomplete or endless body changes nothing. */
async function firstBytes(body: Dispatcher.ResponseData['body']): Promise<string> {
  const kept: Buffer[] = [];
  let read = 0;
  try {
    for await (const chunk of body) {
      const bytes = Buffer.from(chunk);
      if (read < answerBytesKept) kept.push(bytes.subarray(0, answerBytesKept - read));
      read += bytes.length;
      if (read > answerBytesRead) break;
    }
  } catch {
    // Keep what was received so far.
  }
  body.destroy();
  // PostgreSQL's text cannot hold U+0000.
  return Buffer.concat(kept).toString().replaceAll('\0', '\uFFFD');
}

/** Failures of Earshot's side: no answer from the name server, no route, or no socket. */
const ours = new Set([
  'ETIMEOUT',
  'EAI_AGAIN',
  'ENETUNREACH',
  'ENETDOWN',
  'EADDRNOTAVAIL',
  'EMFILE',
  'ENFILE',
  'ENOBUFS',
  'ENOMEM',
]);

function unansweredBecause(error: unknown, latencyMs: number): Attempt {
  const failures: readonly unknown[] = error instanceof AggregateError ? error.errors : [error];
  const theirs = failures.find((failure) => !isOurs(failure));
  // An endpoint that is down counts as failed, even if another of its addresses has no route.
  const outcome: AttemptOutcome =
    theirs === undefined ? { kind: 'not_sent' } : { kind: 'failed', retryAfterMs: null };
  return unanswered(outcome, describe(theirs ?? failures[0]), latencyMs);
}

function isOurs(error: unknown): boolean {
  return ours.has(errorCodeOf(error)) || isResolverDown(error);
}

/** `ECONNREFUSED` is the endpoint's failure, unless it comes from a query to a name server. */
function isResolverDown(error: unknown): boolean {
  const isQuery = error instanceof Error && 'syscall' in error && String(error.syscall).startsWith('query');
  return isQuery && errorCodeOf(error) === 'ECONNREFUSED';
}

/** Shown to the webhook owner: has no internal address and no stack. */
function describe(error: unknown): string {
  if (error instanceof AddressNotAllowed) return error.message;
  const code = errorCodeOf(error);
  return /^[A-Z][A-Z0-9_]{2,60}$/.test(code) ? code : 'the connection failed';
}

function unanswered(outcome: AttemptOutcome, message: string, latencyMs: number): Attempt {
  return { outcome, status: null, latencyMs, message, response: null };
}
