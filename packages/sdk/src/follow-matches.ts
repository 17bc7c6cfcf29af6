import type { Match, Requests } from './contract-types.ts';
import { EarshotError, isRestored, type RemovalListener, type RestoreListener } from './errors.ts';
import { operations } from './operations.ts';
import { jitteredDelayMs, pause } from './pause.ts';
import { type Connection, send } from './send.ts';
import { createEventParser, type EventParser, type ServerSentEvent } from './server-sent-events.ts';

export interface FollowOptions extends RestoreListener, RemovalListener {
  readonly signal?: AbortSignal | undefined;
  /** The server sends something every 15 seconds; after this long without anything the connection is taken for dead. */
  readonly silenceMsMax?: number | undefined;
}

/** Matches in the order of the log, each once. Iterating again continues where the last loop ended. */
export interface FollowedMatches extends AsyncIterable<Match> {
  /** Points behind the latest match: store it when you are done with that match, and pass it to continue later. */
  readonly cursor: string | undefined;
}

const openMsMax = 15_000;
const defaultSilenceMs = 45_000;
const defaultRetryMs = 3_000;
const delayMsMax = 10_000;
/** More than a server repeats after a reconnect. */
const idsKept = 1_000;

/** Follows the stream and reconnects until the signal aborts, the loop is left, or an error comes that a reconnect cannot fix. */
export function followMatches(
  connection: Connection,
  request: Requests['StreamMatches'] = {},
  options: FollowOptions = {},
): FollowedMatches {
  const { signal, silenceMsMax = defaultSilenceMs, onRestored, onRemoved } = options;
  const seen = new Set<string>();
  let { cursor } = request;
  let retryMs = defaultRetryMs;
  let failures = 0;

  const takeMatch = ({ event, data }: ServerSentEvent): Match | undefined => {
    if (event !== 'match') return undefined;
    const match: Match = JSON.parse(data);
    if (seen.has(match.id)) return undefined;
    seen.add(match.id);
    const [oldest = ''] = seen;
    if (seen.size > idsKept) seen.delete(oldest);
    return match;
  };

  async function* oneConnection(): AsyncGenerator<Match, void> {
    const parser = createEventParser();
    for await (const event of streamEvents(connection, { request, cursor, parser, signal, silenceMsMax })) {
      // Before the cursor moves: it must not pass a match that was not given.
      signal?.throwIfAborted();
      failures = 0;
      retryMs = parser.retryMs ?? retryMs;
      cursor = event.id;
      if (event.event === 'removed') await onRemoved?.(JSON.parse(event.data));
      const match = takeMatch(event);
      if (match) yield match;
    }
  }

  async function* allConnections(): AsyncGenerator<Match, void> {
    for (;;) {
      let retryAfterMs = 0;
      try {
        yield* oneConnection();
      } catch (error) {
        if (isRestored(error)) {
          cursor = error.details.oldest_cursor;
          onRestored?.(error);
          continue;
        }
        if (!isWorthReconnecting(error)) throw error;
        retryAfterMs = error.retryAfterMs ?? 0;
      }
      await pause(Math.max(retryAfterMs, jitteredDelayMs(failures, retryMs, delayMsMax)), signal);
      failures += 1;
    }
  }

  return {
    get cursor() {
      return cursor;
    },
    [Symbol.asyncIterator]: allConnections,
  };
}

/** Reading changes nothing, so an internal error of the server is retried as well. */
function isWorthReconnecting(error: unknown): error is EarshotError {
  if (!(error instanceof EarshotError)) return false;
  return error.retryable || (error.status >= 500 && error.code !== 'unimplemented');
}

interface Streaming {
  readonly request: Requests['StreamMatches'];
  readonly cursor: string | undefined;
  readonly parser: EventParser;
  readonly signal: AbortSignal | undefined;
  readonly silenceMsMax: number;
}

/** The events of one connection. Silence is measured only while a read is pending: a slow consumer is not a dead server. */
async function* streamEvents(
  connection: Connection,
  { request, cursor, parser, signal, silenceMsMax }: Streaming,
): AsyncGenerator<ServerSentEvent, void> {
  const { method, path } = operations.StreamMatches;
  const headers = { accept: 'text/event-stream', ...(cursor !== undefined && { 'last-event-id': cursor }) };
  const filter = { rule_id: request.rule_id, platform: request.platform };
  const sending = { method, path, request: filter, headers, signal, timeoutMs: openMsMax };
  const { response, within, close } = await send(connection, sending);
  try {
    if (!response.headers.get('content-type')?.startsWith('text/event-stream') || !response.body) {
      const message = 'The answer is not a stream of events: is this the address of Earshot?';
      throw new EarshotError(message, { code: 'unknown', status: response.status });
    }
    const reader = response.body.getReader();
    const decoder = new TextDecoder();
    for (;;) {
      const { done, value } = await within(silenceMsMax, () => reader.read());
      if (done) return;
      yield* parser.push(decoder.decode(value, { stream: true }));
    }
  } finally {
    close();
  }
}
