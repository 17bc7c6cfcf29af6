import { once } from 'node:events';
import { type IncomingHttpHeaders, type IncomingMessage, request as requestPlain } from 'node:http';
import { request as requestTls } from 'node:https';

/** A complete answer of a platform. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Null when it is not JSON. */
  readonly body: unknown;
}

/** An open stream, or the refusal to open one. */
export interface Stream {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The body of a refusal. */
  readonly body: unknown;
  isOpen(): boolean;
  /** The text received so far. */
  text(): string;
  /** True as soon as the text passes the test; false if the time or the stream ends first. */
  waitFor(test: (text: string) => boolean, ms: number): Promise<boolean>;
  /** Destroys the socket, like a process that dies. */
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

/** An HTTP/1.1 client for one platform, with a size limit for answers. Throws `Unreachable`. */
export function createHttp({ baseUrl, token }: { baseUrl: string; token: string | null }) {
  const streams = new Set<Stream>();

  const send = async (method: string, path: string, { body, headers = {} }: CallOptions) => {
    const url = new URL(path, baseUrl);
    const text = body === undefined ? undefined : JSON.stringify(body);
    const request = (url.protocol === 'http:' ? requestPlain : requestTls)(url, {
      method,
      // Each call has its own connection, so that the platform notices an abandoned one.
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
    // The request may also fail after the response has begun.
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
      // Such an answer neither confirms nor refutes an assumption.
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

/** The outcome of the call is unknown. */
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
  // Before the text is cut, because a part of a token must not remain.
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
  const notify = () => {
    for (const listener of listeners) listener();
  };
  response.socket.setTimeout(0);
  response.on('data', (part: Buffer) => {
    text += decoder.decode(part, { stream: true });
    if (text.length > bytesMax) response.destroy();
    notify();
  });
  response.on('error', () => undefined);
  response.on('close', () => {
    isOpen = false;
    notify();
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
          listeners.delete(check);
          resolve(verdict);
        };
        const check = () => {
          if (test(text)) settle(true);
          else if (!isOpen) settle(false);
        };
        const timer = setTimeout(() => settle(false), ms);
        listeners.add(check);
        check();
      }),
    close: () => void response.destroy(),
  };
}
