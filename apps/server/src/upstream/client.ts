import { Agent, type Dispatcher, errors, request } from 'undici';
import { parseRetryAfterMs, secondsOf } from '../runtime/retry-after.ts';
import { unparsable } from './item.ts';
import { UpstreamUnavailable } from './upstream-rules.ts';
import { StreamEnded } from './upstream-stream.ts';

export interface UpstreamClientOptions {
  readonly baseUrl: string;
  readonly token: string;
  /** For messages: which upstream did not answer. */
  readonly name: string;
  /** How long the body of an answer may take, from its first byte to its last. */
  readonly bodyWithinMs?: number;
}

export type UpstreamClient = ReturnType<typeof createUpstreamClient>;

export interface CallOptions {
  readonly body?: unknown;
  /** The longest body that makes sense as the answer. */
  readonly bytesMax?: number;
  readonly signal: AbortSignal;
}

export interface TransferOptions {
  /** Null: it is fetched. */
  readonly text: string | null;
  readonly signal: AbortSignal;
}

export interface OpenOptions {
  readonly headers?: Readonly<Record<string, string>>;
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
/** A stream may have its headers late, with its first byte, on a busy day of the upstream. */
const openWithinMs = 30_000;
const defaultBodyWithinMs = 30_000;
const transferWithinMs = 300_000;
/** The longest page of X's rules, 1,000 of 2,048 characters, has 14 MB when every character is escaped. */
const answerBytesMax = 16 * 1024 * 1024;
/** Less deep than what overflows the stack. An item in an answer has a bound of its own, so that it is dropped alone. */
const answerDepthMax = 1_000;
const userAgent = 'earshot/0.1';

export function createUpstreamClient({ baseUrl, token, name, bodyWithinMs }: UpstreamClientOptions) {
  // Over HTTP/2 a stream that is given up leaves its connection open, and the next one would wait on the same dead path.
  const agent = new Agent({ allowH2: false, connect: { timeout: answerWithinMs } });
  const headers = {
    authorization: `Bearer ${token}`,
    'user-agent': userAgent,
    // A decompressor would hold keep-alives back, and make much out of little.
    'accept-encoding': 'identity',
  };
  return {
    /** A call that answers with JSON (or nothing). Throws UpstreamUnavailable when nobody knows what happened. */
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
     * Sends text, or gets some, where an answer says: without our credential, which is not meant for whoever is there. Throws
     * UpstreamUnavailable when nobody knows what happened.
     */
    transfer: (url: string, options: TransferOptions) => transfer(agent, url, { ...options, name, baseUrl }),
    /** Opens a long answer. Throws StreamEnded when the upstream cannot be reached. */
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

/** Destroying a body that nobody reads is an error of that body, and without a listener the process's end. */
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
    throw new UpstreamUnavailable(`${name} named no address to which anything can be sent`);
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
  /** Bytes without a frame for this long are no sign of life: a line without an end. 0: for ever. */
  readonly silenceMaxMs: number;
  readonly signal: AbortSignal;
}

/** The frames of a stream; whatever breaks it becomes a StreamEnded. */
export async function* streamFrames<Frame>(options: FramesOptions<Frame>): AsyncGenerator<Frame> {
  const unframed: Unframed = { since: null };
  for await (const frame of options.read(streamChunks(options, unframed))) {
    yield frame;
    unframed.since = null;
  }
}

interface Unframed {
  /** When the first chunk came that did not end a frame. */
  since: number | null;
}

async function* streamChunks(
  { body, silenceMaxMs, signal }: FramesOptions<unknown>,
  unframed: Unframed,
): AsyncGenerator<Uint8Array> {
  let heardAt = performance.now();
  try {
    for await (const chunk of body) {
      heardAt = performance.now();
      unframed.since ??= heardAt;
      const silentMs = heardAt - unframed.since;
      if (silenceMaxMs > 0 && silentMs > silenceMaxMs)
        throw new StreamEnded({ kind: 'stalled', silentMs }, 'no end of a line for too long');
      yield chunk;
    }
  } catch (error) {
    if (error instanceof StreamEnded) throw error;
    if (signal.aborted) throw new StreamEnded({ kind: 'stopped' }, 'closed by us', error);
    if (error instanceof errors.BodyTimeoutError) {
      const silentMs = performance.now() - heardAt;
      throw new StreamEnded({ kind: 'stalled', silentMs }, 'no byte for too long', error);
    }
    throw new StreamEnded({ kind: 'dropped' }, 'the connection broke', error);
  } finally {
    // Destroyed, never ended politely: a half-open socket would keep the only connection that the upstream allows.
    body.destroy();
  }
}

/** Longer than any upstream's window (x.md §5.2); what a header says beyond that is not believed. */
const waitMaxMs = 15 * 60_000;

/**
 * The wait that an answer asks for: `retry-after`, in seconds or as a date, or X's `x-rate-limit-reset`. X sends the latter
 * with every answer, so it means something only on a 429.
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

class BodyRefused extends Error {}

export interface ReadJsonOptions {
  readonly bytesMax?: number | undefined;
  readonly withinMs?: number | undefined;
}

/** The body of an answer; null when it is not JSON. Throws, and closes the connection, when it is beyond all bounds. */
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
