import { Agent, type Dispatcher, errors, request } from 'undici';
import { retryAfterMs } from './retry-after.ts';
import { UpstreamUnavailable } from './upstream-rules.ts';
import { StreamEnded } from './upstream-stream.ts';

export interface UpstreamClientOptions {
  readonly baseUrl: string;
  readonly token: string;
  /** For messages: which upstream did not answer. */
  readonly name: string;
}

export interface UpstreamClient extends AsyncDisposable {
  /** A call that answers with JSON (or nothing). Throws UpstreamUnavailable when nobody knows what happened. */
  call(method: 'GET' | 'POST' | 'DELETE', path: string, options: CallOptions): Promise<UpstreamAnswer>;
  /** Opens a long answer. Throws StreamEnded when the upstream cannot be reached. */
  open(path: string, options: OpenOptions): Promise<Dispatcher.ResponseData>;
}

export interface CallOptions {
  readonly body?: unknown;
  readonly signal: AbortSignal;
}

export interface OpenOptions {
  readonly headers: Readonly<Record<string, string>>;
  /** No byte for this long: the stream is dead though the socket is open. */
  readonly silenceMaxMs: number;
  readonly signal: AbortSignal;
}

export interface UpstreamAnswer {
  readonly status: number;
  readonly body: unknown;
  readonly retryAfterMs: number | null;
}

const answerWithinMs = 10_000;
const userAgent = 'earshot/0.1';

export function createUpstreamClient({ baseUrl, token, name }: UpstreamClientOptions): UpstreamClient {
  const agent = new Agent({ connect: { timeout: answerWithinMs } });
  const headers = { authorization: `Bearer ${token}`, 'user-agent': userAgent };
  return {
    async call(method, path, { body, signal }) {
      try {
        const answer = await request(new URL(path, baseUrl), {
          method,
          dispatcher: agent,
          headers: body === undefined ? headers : { ...headers, 'content-type': 'application/json' },
          body: body === undefined ? null : JSON.stringify(body),
          headersTimeout: answerWithinMs,
          bodyTimeout: answerWithinMs,
          signal,
        });
        return {
          status: answer.statusCode,
          body: parseJson(await answer.body.text()),
          retryAfterMs: retryAfterMs(answer, Date.now()),
        };
      } catch (error) {
        throw new UpstreamUnavailable(`${name} did not answer`, { cause: error });
      }
    },
    async open(path, { headers: more, silenceMaxMs, signal }) {
      try {
        return await request(new URL(path, baseUrl), {
          dispatcher: agent,
          headers: { ...headers, ...more },
          headersTimeout: answerWithinMs,
          bodyTimeout: silenceMaxMs,
          signal,
        });
      } catch (error) {
        throw new StreamEnded(
          { kind: signal.aborted ? 'stopped' : 'unreachable' },
          `${name} did not answer`,
          error,
        );
      }
    },
    async [Symbol.asyncDispose]() {
      await agent.destroy();
    },
  };
}

/** The bytes of a stream; whatever breaks it becomes a StreamEnded. */
export async function* streamChunks(
  body: Dispatcher.ResponseData['body'],
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  let heardAt = performance.now();
  try {
    for await (const chunk of body) {
      heardAt = performance.now();
      yield chunk;
    }
  } catch (error) {
    if (signal.aborted) throw new StreamEnded({ kind: 'stopped' }, 'closed by us', error);
    if (error instanceof errors.BodyTimeoutError) {
      const silentMs = performance.now() - heardAt;
      throw new StreamEnded({ kind: 'stalled', silentMs }, 'no byte for too long', error);
    }
    throw new StreamEnded({ kind: 'dropped' }, 'the connection broke', error);
  } finally {
    // Destroyed, never ended politely: a half-open socket would keep the upstream's only slot.
    body.destroy();
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
