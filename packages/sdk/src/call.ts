import { EarshotError, parseJson } from './errors.ts';
import { jitteredDelayMs, pause } from './pause.ts';
import { randomHex } from './random-hex.ts';
import { type Connection, send } from './send.ts';

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /** Time limit for all attempts together. 60 s by default. */
  readonly timeoutMs?: number | undefined;
  /** Your own key, so that several runs of your program make a change only once. */
  readonly idempotencyKey?: string | undefined;
}

export interface CalledOperation {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly changes: boolean;
}

const defaultTimeoutMs = 60_000;
/** Longer than the server waits for matches in a request. */
const attemptMsMax = 40_000;
const firstDelayMs = 250;
const delayMsMax = 10_000;

/** Calls an operation, and retries retryable errors while time is left. All attempts of a change send the same key. */
export async function call(
  connection: Connection,
  operation: CalledOperation,
  request: object,
  options: CallOptions = {},
): Promise<unknown> {
  const { signal, timeoutMs = defaultTimeoutMs, idempotencyKey = randomHex() } = options;
  const endsAt = performance.now() + timeoutMs;
  const headers = operation.changes ? { 'idempotency-key': idempotencyKey } : {};
  for (let failures = 0; ; failures++) {
    const leftMs = Math.max(0, endsAt - performance.now());
    const { method, path } = operation;
    const sending = { method, path, request, headers, signal, timeoutMs: Math.min(leftMs, attemptMsMax) };
    try {
      return await attempt(connection, sending);
    } catch (error) {
      if (!(error instanceof EarshotError) || !error.retryable) throw error;
      const delayMs = Math.max(error.retryAfterMs ?? 0, jitteredDelayMs(failures, firstDelayMs, delayMsMax));
      if (performance.now() + delayMs >= endsAt) throw error;
      await pause(delayMs, signal);
    }
  }
}

async function attempt(connection: Connection, sending: Parameters<typeof send>[1]): Promise<unknown> {
  const endsAt = performance.now() + sending.timeoutMs;
  const { response, within, close } = await send(connection, sending);
  try {
    const answer = parseJson(await within(endsAt - performance.now(), () => response.text()));
    if (answer !== undefined) return answer;
    const message = 'The answer is not JSON. Check the address of the server.';
    throw new EarshotError(message, { code: 'unknown', status: response.status });
  } finally {
    close();
  }
}
