import { EarshotError, errorFromResponse, unreachable } from './errors.ts';

/** The server, the key, and the `fetch` function. */
export interface Connection {
  readonly url: string;
  readonly key: string | undefined;
  readonly fetch: typeof fetch;
}

export interface Sending {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly request: object;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs: number;
}

export interface Received {
  readonly response: Response;
  /** Releases the connection, and aborts the unread rest. */
  readonly close: () => void;
  /** Runs one read of the body with a timeout. */
  readonly within: <Result>(timeoutMs: number, read: () => Promise<Result>) => Promise<Result>;
}

/**
 * Sends once, and returns the answer if it is a success. Throws the reason of the signal if it aborts, and an EarshotError
 * for everything else. `AbortSignal.any` would add a listener for each request to a signal that may live as long as the
 * program.
 */
export async function send(connection: Connection, sending: Sending): Promise<Received> {
  const { signal } = sending;
  signal?.throwIfAborted();
  const controller = new AbortController();
  const onAbort = () => controller.abort(signal?.reason);
  signal?.addEventListener('abort', onAbort, { once: true });
  const close = () => {
    signal?.removeEventListener('abort', onAbort);
    controller.abort();
  };
  const within: Received['within'] = async (timeoutMs, read) => {
    const tooLate = new EarshotError(`Earshot sent nothing for ${Math.round(timeoutMs)} ms.`, {
      code: 'unavailable',
    });
    const timer = setTimeout(() => controller.abort(tooLate), timeoutMs);
    try {
      return await read();
    } catch (error) {
      signal?.throwIfAborted();
      if (controller.signal.aborted) throw controller.signal.reason;
      throw error instanceof EarshotError ? error : unreachable(error);
    } finally {
      clearTimeout(timer);
    }
  };
  try {
    const response = await within(sending.timeoutMs, async () => {
      const answer = await connection.fetch(address(connection, sending), {
        method: sending.method,
        headers: headersOf(connection, sending),
        signal: controller.signal,
        ...(sending.method === 'POST' && { body: JSON.stringify(sending.request) }),
      });
      if (!answer.ok) throw errorFromResponse(answer, await answer.text());
      return answer;
    });
    return { response, within, close };
  } catch (error) {
    close();
    throw error;
  }
}

function address({ url }: Connection, { method, path, request }: Sending): string {
  const base = url.replace(/\/+$/, '') + path;
  if (method === 'POST') return base;
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(request))
    if (value !== undefined) query.set(name, String(value));
  return query.size === 0 ? base : `${base}?${query.toString()}`;
}

function headersOf({ key }: Connection, { method, headers }: Sending): Record<string, string> {
  return {
    ...(key !== undefined && { authorization: `Bearer ${key}` }),
    ...(method === 'POST' && { 'content-type': 'application/json' }),
    ...headers,
  };
}
