import { get, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { createParser } from 'eventsource-parser';

export interface SseEvent {
  readonly id: string;
  readonly event: string;
  readonly data: string;
}

export type SseConnection = ReturnType<typeof connectSse>;

export interface SseOptions {
  readonly headers: Readonly<Record<string, string>>;
  readonly onEvent: (event: SseEvent) => void;
  readonly onComment?: () => void;
}

/** Reads server-sent events without reconnecting: tests decide when to reconnect. */
export function connectSse(url: URL, { headers, onEvent, onComment }: SseOptions) {
  let isCut = false;
  const opened = Promise.withResolvers<{
    status: number;
    headers: IncomingMessage['headers'];
    body: string;
  }>();
  const closed = Promise.withResolvers<void>();
  const parser = createParser({
    onEvent: ({ id = '', event = '', data }) => void (isCut || onEvent({ id, event, data })),
    onComment: () => onComment?.(),
  });
  const request = get(url, { headers, agent: false }, (response) => {
    const status = response.statusCode ?? 0;
    response.once('error', () => undefined);
    const isStream = response.headers['content-type']?.startsWith('text/event-stream') ?? false;
    const head = { status, headers: response.headers };
    if (isStream) {
      response.setEncoding('utf8').on('data', (chunk: string) => void (isCut || parser.feed(chunk)));
      opened.resolve({ ...head, body: '' });
    } else text(response).then((body) => opened.resolve({ ...head, body }), opened.reject);
  });
  request.once('error', (error) => opened.reject(error));
  request.once('close', () => closed.resolve());
  opened.promise.catch(() => undefined);
  return {
    /** The head of the answer, with the body if the answer is no stream. Rejects without a connection. */
    opened: opened.promise,
    /** Resolves at the end, whatever its cause. */
    closed: closed.promise,
    /** Cuts the connection, and drops received events that were not read yet. */
    cut(): void {
      isCut = true;
      request.destroy();
    },
    /** Stops reading from the connection, and leaves it open. */
    stall(): void {
      request.socket?.pause();
    },
  };
}
