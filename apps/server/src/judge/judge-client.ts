import { newNonce } from '@earshot/mcp/fence';
import { Agent, type Dispatcher, request } from 'undici';
import { createConcurrencyLimit } from '../runtime/concurrency.ts';
import { BodyRefused, discard, readJson, retryAfterMs } from '../upstream/client.ts';
import { type JudgePrices, type JudgeUse, reservedUsd } from './judge-cost.ts';
import { type JudgeInput, type Judgement, readJudgement, writeJudgeRequest } from './judge-request.ts';

export interface JudgeFailure extends JudgeUse {
  readonly failed: 'timeout' | 'rate_limited' | 'unavailable' | 'malformed' | 'schema';
  /** For the log: 401 is a wrong key, 404 a wrong URL or model, 400 a request that the model does not accept. */
  readonly status: number | null;
  /** The wait that the endpoint requests. */
  readonly retryAfterMs: number | null;
}

export type JudgeResult = (Judgement & JudgeUse & { readonly failed?: never }) | JudgeFailure;

export interface JudgeClientOptions {
  readonly url: string;
  readonly model: string;
  readonly key?: string | undefined;
  /** Time limit of a call, without the wait for its place. */
  readonly timeoutMs?: number;
}

export interface JudgeClient extends AsyncDisposable {
  /** What to reserve for this call. */
  reservedUsd(input: JudgeInput, prices: JudgePrices): number;
  /** Throws only if `signal` aborts. At most 8 calls are in flight; others wait in order. */
  judge(input: JudgeInput, signal: AbortSignal): Promise<JudgeResult>;
}

const answerWithinMs = 20_000;
const answerBytesMax = 64 * 1024;
const inFlightMax = 8;

/**
 * Calls the judge. The operator configured its URL, so unlike webhooks it may be on this machine or in a private network.
 * No result contains text of a failed answer, because endpoints quote keys in their errors.
 */
export function createJudgeClient(options: JudgeClientOptions): JudgeClient {
  const { url, model, key, timeoutMs = answerWithinMs } = options;
  const endpoint = endpointOf(url);
  const limit = createConcurrencyLimit(inFlightMax);
  const agent = new Agent({
    allowH2: false,
    pipelining: 1,
    keepAliveTimeout: 4_000,
    connect: { timeout: timeoutMs },
  });
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'earshot/0.1 (+judge)',
    ...(key !== undefined && { authorization: `Bearer ${key}` }),
  };
  const write = (input: JudgeInput) => writeJudgeRequest(input, { model, nonce: newNonce() });

  const call = async (input: JudgeInput, signal: AbortSignal): Promise<JudgeResult> => {
    const deadline = AbortSignal.timeout(timeoutMs);
    let status: number | null = null;
    try {
      // Redirects are not followed: their targets would get posts and the key.
      const answer = await request(endpoint, {
        method: 'POST',
        dispatcher: agent,
        headers,
        body: JSON.stringify(write(input)),
        signal: AbortSignal.any([signal, deadline]),
      });
      status = answer.statusCode;
      if (status !== 200) return refusal(answer);
      const body = await readJson(answer.body, { bytesMax: answerBytesMax, withinMs: timeoutMs });
      const read = readJudgement(body);
      return 'failed' in read ? failure({ ...read, status }) : { ...read, mayBeBilled: true };
    } catch (error) {
      signal.throwIfAborted();
      if (deadline.aborted) return failure({ failed: 'timeout', status });
      if (error instanceof BodyRefused) return failure({ failed: 'malformed', status });
      return failure({ failed: 'unavailable', status, mayBeBilled: !isUnsent(error) });
    }
  };

  return {
    reservedUsd: (input, prices) => reservedUsd(write(input), prices),
    judge: (input, signal) => limit(() => call(input, signal)),
    async [Symbol.asyncDispose](): Promise<void> {
      await agent.destroy();
    },
  };
}

function endpointOf(url: string): string {
  const base = url.replace(/\/+$/, '');
  return `${base}${base.endsWith('/v1') ? '' : '/v1'}/chat/completions`;
}

/** The connection was never open, so the endpoint did nothing. */
const unsent = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

function isUnsent(error: unknown): boolean {
  return error instanceof Error && 'code' in error && unsent.has(String(error.code));
}

function refusal(answer: Dispatcher.ResponseData): JudgeFailure {
  discard(answer);
  const { statusCode: status } = answer;
  return failure({
    failed: status === 429 ? 'rate_limited' : 'unavailable',
    status,
    retryAfterMs: retryAfterMs(answer, Date.now()),
    // Behind a gateway that fails, the model may have worked.
    mayBeBilled: status >= 500,
  });
}

function failure(known: Pick<JudgeFailure, 'failed' | 'status'> & Partial<JudgeFailure>): JudgeFailure {
  return { retryAfterMs: null, tokens: null, mayBeBilled: true, ...known };
}
