import { Agent, type Dispatcher, errors, request } from 'undici';
import { parseRetryAfterMs, secondsOf } from '../runtime/retry-after.ts';
import { unparsable } from './item.ts';
import { UpstreamUnavailable } from './upstream-rules.ts';
import { StreamEnded } from './upstream-stream.ts';

export interface UpstreamClientOptions {
  readonly baseUrl: string;
  readonly token: string;
  /** Name of the platform, for messages. */
  readonly name: string;
  /** Time limit for the body of an answer, from its first byte to its last. */
  readonly bodyWithinMs?: number;
}

export type UpstreamClient = ReturnType<typeof createUpstreamClient>;

export interface CallOptions {
  readonly body?: unknown;
  /** The longest plausible body of the answer. */
  readonly bytesMax?: number;
  readonly signal: AbortSignal;
}

export interface TransferOptions {
  /** The text to upload; null to download. */
  readonly text: string | null;
  readonly signal: AbortSignal;
}

export interface OpenOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** After this long without a byte, the stream is dead although the socket is open. */
  readonly silenceMaxMs: number;
  readonly signal: AbortSignal;
}

export interface UpstreamAnswer {
  readonly status: number;
  readonly body: unknown;
  readonly retryAfterMs: number | null;
}

const answerWithinMs = 10_000;
/** On busy days, a stream's headers may arrive late, with its first byte. */
const openWithinMs = 30_000;
const defaultBodyWithinMs = 30_000;
const transferWithinMs = 300_000;
/** The longest page of X's rules, 1,000 with 2,048 characters, has 14 MB if every character is escaped. */
const answerBytesMax = 16 * 1024 * 1024;
/** Below the depth that overflows the stack. Items have their own limit, so that a bad one is dropped alone. */
const answerDepthMax = 1_000;
const userAgent = 'earshot/0.1';

export function createUpstreamClient({ baseUrl, token, name, bodyWithinMs }: UpstreamClientOptions) {
  // Over HTTP/2, an aborted stream keeps its connection open, and the next stream would use the same dead path.
  const agent = new Agent({ allowH2: false, connect: { timeout: answerWithinMs } });
  const headers = {
    authorization: `Bearer ${token}`,
    'user-agent': userAgent,
    // A decompressor would delay keep-alives, and allow decompression bombs.
    'accept-encoding': 'identity',
  };
  return {
    /** A call that answers with JSON or nothing. Throws UpstreamUnavailable if the outcome is unknown. */
    async call(
      method: 'GET' | 'POST' | 'DELETE',
      path: string,
      { body, bytesMax, signal }: CallOptions,
    ): Promise<UpstreamAnswer> {
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
          body: await readJson(answer.body, { bytesMax, withinMs: bodyWithinMs }),
          retryAfterMs: retryAfterMs(answer, Date.now()),
        };
      } catch (error) {
        const what = error instanceof BodyRefused ? error.message : 'did not answer';
        throw new UpstreamUnavailable(`${name} ${what}`, { cause: error });
      }
    },
    /**
     * Uploads or downloads text at a URL from an answer. Omits the credential, because the URL may be on another
     * host. Throws UpstreamUnavailable if the outcome is unknown.
     */
    transfer: (url: string, options: TransferOptions) => transfer(agent, url, { ...options, name, baseUrl }),
    /** Opens a streaming answer. Throws StreamEnded if the platform cannot be reached. */
    async open(
      path: string,
      { headers: more, silenceMaxMs, signal }: OpenOptions,
    ): Promise<Dispatcher.ResponseData> {
      try {
        return await request(new URL(path, baseUrl), {
          dispatcher: agent,
          headers: { ...headers, ...more },
          headersTimeout: openWithinMs,
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
    async [Symbol.asyncDispose](): Promise<void> {
      await agent.destroy();
    },
  };
}

/** Destroying an unread body emits an error, which would end the process without a listener. */
export function discard({ body }: Dispatcher.ResponseData): void {
  body.on('error', () => undefined).destroy();
}

async function transfer(
  dispatcher: Agent,
  url: string,
  options: TransferOptions & Pick<UpstreamClientOptions, 'name' | 'baseUrl'>,
): Promise<{ status: number; text: string }> {
  const { text, signal, name, baseUrl } = options;
  const to = URL.parse(url);
  if (to?.protocol !== 'https:' && to?.origin !== new URL(baseUrl).origin)
    throw new UpstreamUnavailable(`${name} returned an invalid transfer URL`);
  try {
    const { statusCode: status, body } = await request(to, {
      method: text === null ? 'GET' : 'PUT',
      dispatcher,
      headers: { 'user-agent': userAgent, ...(text !== null && { 'content-type': 'text/plain' }) },
      body: text,
      headersTimeout: openWithinMs,
      bodyTimeout: answerWithinMs,
      signal,
    });
    return { status, text: await readText(body, { withinMs: transferWithinMs }) };
  } catch (error) {
    const what = error instanceof BodyRefused ? error.message : 'did not answer';
    throw new UpstreamUnavailable(`the storage of ${name} ${what}`, { cause: error });
  }
}

export interface FramesOptions<Frame> {
  readonly body: Dispatcher.ResponseData['body'];
  readonly read: (chunks: AsyncIterable<Uint8Array>) => AsyncIterable<Frame>;
  /**
   * After this long without a complete frame, the stream counts as dead even if bytes arrive. 0 disables the check.
   */
  readonly silenceMaxMs: number;
  readonly signal: AbortSignal;
}

/** Yields the frames of a stream; every failure becomes a StreamEnded. */
export async function* streamFrames<Frame>(options: FramesOptions<Frame>): AsyncGenerator<Frame> {
  const progress: FrameProgress = { since: null };
  for await (const frame of options.read(streamChunks(options, progress))) {
    yield frame;
    progress.since = null;
  }
}

interface FrameProgress {
  /** When the first chunk after the last complete frame arrived. */
  since: number | null;
}

async function* streamChunks(
  { body, silenceMaxMs, signal }: FramesOptions<unknown>,
  progress: FrameProgress,
): AsyncGenerator<Uint8Array> {
  let receivedAt = performance.now();
  try {
    for await (const chunk of body) {
      receivedAt = performance.now();
      progress.since ??= receivedAt;
      const silentMs = receivedAt - progress.since;
      if (silenceMaxMs > 0 && silentMs > silenceMaxMs)
        throw new StreamEnded({ kind: 'stalled', silentMs }, 'no end of a line for too long');
      yield chunk;
    }
  } catch (error) {
    if (error instanceof StreamEnded) throw error;
    if (signal.aborted) throw new StreamEnded({ kind: 'stopped' }, 'closed by Earshot', error);
    if (error instanceof errors.BodyTimeoutError) {
      const silentMs = performance.now() - receivedAt;
      throw new StreamEnded({ kind: 'stalled', silentMs }, 'no byte for too long', error);
    }
    throw new StreamEnded({ kind: 'dropped' }, 'the connection broke', error);
  } finally {
    // Destroyed instead of closed, because a half-open socket would keep the only allowed connection.
    body.destroy();
  }
}

/** Longer than any platform's window (x.md §5.2); longer values are capped. */
const waitMaxMs = 15 * 60_000;

/**
 * The wait that an answer requests: `retry-after`, in seconds or as a date, or X's `x-rate-limit-reset`. X sends the
 * latter with every answer, so it counts only on a 429.
 */
export function retryAfterMs(
  answer: { statusCode: number; headers: Readonly<Record<string, string | string[] | undefined>> },
  nowMs: number,
): number | null {
  const bounded = (ms: number) => Math.min(waitMaxMs, Math.max(0, ms));
  const header = answer.headers['retry-after'];
  const seconds = secondsOf(header);
  const after = seconds === null ? parseRetryAfterMs(header, nowMs) : seconds * 1_000;
  if (after !== null) return bounded(after);
  const reset = answer.statusCode === 429 ? secondsOf(answer.headers['x-rate-limit-reset']) : null;
  return reset === null ? null : bounded(reset * 1_000 - nowMs);
}

/** The body of an answer exceeds a limit of size, depth or time. */
export class BodyRefused extends Error {}

export interface ReadJsonOptions {
  readonly bytesMax?: number | undefined;
  readonly withinMs?: number | undefined;
}

/** Reads the body of an answer; null if it is not JSON. Throws and closes the connection if it exceeds a limit. */
export async function readJson(
  body: Dispatcher.ResponseData['body'],
  options: ReadJsonOptions = {},
): Promise<unknown> {
  const text = await readText(body, options);
  const reason = unparsable(text, answerDepthMax);
  if (reason !== null) throw new BodyRefused(`sent an answer that is ${reason}`);
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

async function readText(
  body: Dispatcher.ResponseData['body'],
  { bytesMax = answerBytesMax, withinMs = defaultBodyWithinMs }: ReadJsonOptions,
): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  const tooSlow = new BodyRefused(`sent an answer that did not end within ${withinMs} ms`);
  const timer = setTimeout(() => body.destroy(tooSlow), withinMs);
  try {
    for await (const chunk of body) {
      bytes += chunk.length;
      if (bytes > bytesMax) throw new BodyRefused(`sent an answer of more than ${bytesMax} bytes`);
      chunks.push(chunk);
    }
  } finally {
    clearTimeout(timer);
  }
  return new TextDecoder().decode(Buffer.concat(chunks));
}
