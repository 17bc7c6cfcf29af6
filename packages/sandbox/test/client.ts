import { defaultTapToken, defaultXToken, type Sandbox } from '../src/index.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

/** What stands at a path of a JSON value; undefined when there is nothing. */
export function at(value: unknown, ...path: Array<string | number>): unknown {
  return path.reduce<unknown>(
    (found, key) => (typeof found === 'object' && found !== null ? Reflect.get(found, key) : undefined),
    value,
  );
}

export function textAt(value: unknown, ...path: Array<string | number>): string {
  const found = at(value, ...path);
  if (typeof found !== 'string')
    throw new TypeError(`no text at ${path.join('.')} of ${JSON.stringify(value)}`);
  return found;
}

export function listAt(value: unknown, ...path: Array<string | number>): unknown[] {
  const found = at(value, ...path);
  if (!Array.isArray(found)) throw new TypeError(`no list at ${path.join('.')} of ${JSON.stringify(value)}`);
  return found;
}

const xStreamPath = '/2/tweets/search/stream';
export const xRulesPath = '/2/tweets/search/stream/rules';

/** Calls a sandbox the way a customer's program would: HTTP and nothing else. */
export function createClient(sandbox: Sandbox) {
  const call = async (method: string, path: string, token?: string, body?: object): Promise<Answer> => {
    const response = await fetch(sandbox.url + path, {
      method,
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text === '' ? {} : JSON.parse(text) };
  };
  const open = (path: string, token: string, headers: { [name: string]: string } = {}) =>
    openLines(sandbox.url + path, { authorization: `Bearer ${token}`, ...headers });

  return {
    call,
    x: (method: string, path: string, body?: object) => call(method, path, defaultXToken, body),
    tap: (method: string, path: string, body?: object) => call(method, path, defaultTapToken, body),
    control: (method: string, path: string, body?: object) =>
      call(method, `/sandbox${path}`, undefined, body),
    openX: (query = '', token = defaultXToken) => open(`${xStreamPath}${query}`, token),
    openTap: (query = '', headers = {}, token = defaultTapToken) =>
      open(`/v1/stream${query}`, token, headers),
    addXRules: async (...values: string[]) => {
      const answer = await call('POST', xRulesPath, defaultXToken, {
        add: values.map((value) => ({ value })),
      });
      return listAt(answer.body, 'data').map((rule) => textAt(rule, 'id'));
    },
    addTapRule: async (value: string, more: object = {}) => {
      const answer = await call('POST', '/v1/rules', defaultTapToken, { value, ...more });
      return textAt(answer.body, 'data', 'id');
    },
    post: async (...texts: string[]) => {
      const answer = await call('POST', '/sandbox/x/posts', undefined, {
        posts: texts.map((text) => ({ text })),
      });
      return listAt(answer.body, 'posts');
    },
    page: async (...titles: string[]) => {
      const pages = titles.map((title, index) => ({
        url: `https://news.example/${index}-${Math.random()}`,
        title,
      }));
      const answer = await call('POST', '/sandbox/firehose/pages', undefined, { pages });
      return listAt(answer.body, 'pages').map((page) => at(page, 'events', 0, 'event_id'));
    },
    arm: async (fault: object) =>
      at((await call('POST', '/sandbox/faults', undefined, fault)).body, 'faults', 0),
    fired: async () => {
      const { body } = await call('GET', '/sandbox/faults');
      return listAt(body, 'faults').map((fault) => at(fault, 'fired'));
    },
  };
}

export type LineStream = Awaited<ReturnType<typeof openLines>>;

/** An open stream, read chunk by chunk. */
async function openLines(url: string, headers: { [name: string]: string }) {
  const abort = new AbortController();
  const response = await fetch(url, { headers, signal: abort.signal });
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  const chunks: Uint8Array[] = [];
  let buffered = '';
  let ended = false;
  const isOpen = () => !ended;

  const readMore = async () => {
    const part = await reader?.read().catch(() => undefined);
    if (part?.value === undefined) ended = true;
    else {
      chunks.push(part.value);
      buffered += decoder.decode(part.value, { stream: true });
    }
  };
  /** The text up to the separator; undefined when the stream is over. */
  const until = async (separator: string): Promise<string | undefined> => {
    while (!buffered.includes(separator) && isOpen()) await readMore();
    const at = buffered.indexOf(separator);
    if (at < 0) return undefined;
    const piece = buffered.slice(0, at);
    buffered = buffered.slice(at + separator.length);
    return piece;
  };

  return {
    status: response.status,
    headers: response.headers,
    chunks,
    close: () => abort.abort(),
    body: async (): Promise<unknown> => {
      while (isOpen()) await readMore();
      return JSON.parse(buffered);
    },
    /** The next record of an X stream, without the keep-alives; undefined at the end. */
    record: async (): Promise<unknown> => {
      for (;;) {
        const line = await until('\r\n');
        if (line !== '') return line === undefined ? undefined : JSON.parse(line);
      }
    },
    line: () => until('\r\n'),
    /** The next frame of a Firehose stream. */
    frame: async (): Promise<{ event: string; id: string | undefined; data: unknown } | undefined> => {
      const frame = await until('\n\n');
      if (frame === undefined) return undefined;
      const field = (name: string) =>
        frame
          .split('\n')
          .find((line) => line.startsWith(`${name}: `))
          ?.slice(name.length + 2);
      return { event: field('event') ?? '', id: field('id'), data: JSON.parse(field('data') ?? '{}') };
    },
    /** Resolves when the server is done with this stream. */
    ended: async () => {
      while (isOpen()) await readMore();
    },
  };
}

/** Asks again until the answer satisfies; for effects that no event announces. */
export async function eventually<T>(ask: () => Promise<T>, satisfies: (answer: T) => boolean): Promise<T> {
  const deadlineMs = Date.now() + 10_000;
  for (;;) {
    const answer = await ask();
    if (satisfies(answer)) return answer;
    if (Date.now() > deadlineMs) throw new Error(`still ${JSON.stringify(answer)}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
