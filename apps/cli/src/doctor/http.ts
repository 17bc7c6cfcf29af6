import { once } from 'node:events';
import { type IncomingHttpHeaders, type IncomingMessage, request as requestPlain } from 'node:http';
import { request as requestTls } from 'node:https';

/** What a platform answered, read whole. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Null when it is not JSON. */
  readonly body: unknown;
}

/** A stream that was opened, or the refusal to open one. */
export interface Stream {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Of a refusal. */
  readonly body: unknown;
  isOpen(): boolean;
  /** What came so far. */
  text(): string;
  /** True as soon as the text passes; false when the time is over, or the stream. */
  waitFor(test: (text: string) => boolean, ms: number): Promise<boolean>;
  /** Destroys the socket, as a process that dies. */
  close(): void;
}

interface CallOptions {
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
}

export type Http = ReturnType<typeof createHttp>;

const answerWithinMs = 30_000;
const bytesMax = 8 * 1024 * 1024;
const userAgent = 'earshot-doctor/0.1';

/** HTTP/1.1 to one platform, with bounded answers. Fails with `Unreachable`. */
export function createHttp({ baseUrl, token }: { baseUrl: string; token: string | null }) {
  const streams = new Set<Stream>();

  const send = async (method: string, path: string, { body, headers = {} }: CallOptions) => {
    const url = new URL(path, baseUrl);
    const text = body === undefined ? undefined : JSON.stringify(body);
    const request = (url.protocol === 'http:' ? requestPlain : requestTls)(url, {
      method,
      // Every call has a connection of its own: one that was given up is gone for the platform too.
      agent: false,
      timeout: answerWithinMs,
      headers: {
        'user-agent': userAgent,
        'accept-encoding': 'identity',
        ...(token !== null && { authorization: `Bearer ${token}` }),
        ...(text !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
    });
    request.on('timeout', () => request.destroy(new Error('no answer in time')));
    // Also after the response has begun, when nobody waits for it any more.
    request.on('error', () => undefined);
    request.end(text);
    try {
      const [response] = (await once(request, 'response')) as [IncomingMessage];
      return response;
    } catch (error) {
      throw new Unreachable(`${method} ${url.host}${url.pathname} failed`, { cause: error });
    }
  };

  return {
    async call(method: string, path: string, options: CallOptions = {}): Promise<Answer> {
      const answer = await readAnswer(await send(method, path, options), token);
      // Says nothing of what was asked: neither that it is as expected, nor that it differs.
      if (answer.status === 429 || answer.status >= 500)
        throw new Unreachable(`${method} ${path.split('?')[0]} was answered with ${answer.status}`);
      return answer;
    },
    async open(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Stream> {
      const response = await send('GET', path, { headers });
      const { statusCode: status = 0 } = response;
      if (status !== 200) return refused(await readAnswer(response, token));
      const stream = followStream(response);
      streams.add(stream);
      return stream;
    },
    closeStreams(): void {
      for (const stream of streams) stream.close();
    },
  };
}

/** Nobody knows what happened to the call. */
class Unreachable extends Error {
  override readonly name = 'Unreachable';
}

async function readAnswer(response: IncomingMessage, token: string | null): Promise<Answer> {
  const { statusCode: status = 0, headers } = response;
  const parts: Buffer[] = [];
  let size = 0;
  try {
    for await (const part of response as AsyncIterable<Buffer>) {
      size += part.length;
      if (size > bytesMax) break;
      parts.push(part);
    }
  } catch (error) {
    throw new Unreachable('An answer broke off', { cause: error });
  }
  const text = Buffer.concat(parts).toString('utf8');
  // Before anything is cut out of it: half a token would be no better.
  return { status, headers, body: parseJson(token === null ? text : text.replaceAll(token, '[secret]')) };
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}

function refused(answer: Answer): Stream {
  return {
    ...answer,
    isOpen: () => false,
    text: () => '',
    waitFor: () => Promise.resolve(false),
    close: () => undefined,
  };
}

function followStream(response: IncomingMessage): Stream {
  const decoder = new TextDecoder();
  let text = '';
  let isOpen = true;
  const listeners = new Set<() => void>();
  const tell = () => {
    for (const listener of listeners) listener();
  };
  response.socket.setTimeout(0);
  response.on('data', (part: Buffer) => {
    text += decoder.decode(part, { stream: true });
    if (text.length > bytesMax) response.destroy();
    tell();
  });
  response.on('error', () => undefined);
  response.on('close', () => {
    isOpen = false;
    tell();
  });
  return {
    status: 200,
    headers: response.headers,
    body: null,
    isOpen: () => isOpen,
    text: () => text,
    waitFor: (test, ms) =>
      new Promise((resolve) => {
        const settle = (verdict: boolean) => {
          clearTimeout(timer);
          listeners.delete(look);
          resolve(verdict);
        };
        const look = () => {
          if (test(text)) settle(true);
          else if (!isOpen) settle(false);
        };
        const timer = setTimeout(() => settle(false), ms);
        listeners.add(look);
        look();
      }),
    close: () => void response.destroy(),
  };
}
