import type { Answers, Match, Notice, Requests } from './contract-types.ts';
import { EarshotError, isRestored, type RemovalListener, type RestoreListener } from './errors.ts';
import { operations } from './operations.ts';
import { jitteredDelayMs, pause } from './pause.ts';
import { type Connection, send } from './send.ts';
import { createEventParser, type EventParser, type ServerSentEvent } from './server-sent-events.ts';

export interface StreamOptions {
  readonly signal?: AbortSignal | undefined;
  /** The connection counts as dead after this long without data. The server sends something every 15 s. */
  readonly silenceMsMax?: number | undefined;
}

export interface FollowOptions extends StreamOptions, RestoreListener, RemovalListener {
  /** Called with the number of matches that the stream left out, because a mute or `relevance` hides them. */
  readonly onHidden?: ((hidden: NonNullable<Answers['ListMatches']['hidden']>) => void) | undefined;
}

/** Items in the order of the log, each once. Iterating again continues where the last loop ended. */
interface Followed<Item> extends AsyncIterable<Item> {
  /** Points behind the latest item. Store it after you have processed the item, and pass it to continue later. */
  readonly cursor: string | undefined;
}

/** Matches in the order of the log, each once. Iterating again continues where the last loop ended. */
export type FollowedMatches = Followed<Match>;

/** Notices in the order of the log: each as it is raised, and again when it is resolved. */
export type FollowedNotices = Followed<Notice>;

const openMsMax = 15_000;
const defaultSilenceMs = 45_000;
const defaultRetryMs = 3_000;
const delayMsMax = 10_000;
/** More than the server repeats after a reconnect. */
const idsKept = 1_000;

/**
 * Follows the stream, and reconnects until the signal aborts, you leave the loop, or a reconnect cannot fix an error. There is no fallback
 * to long polls, which would be a second source of bugs. If a proxy cuts long answers, call `listMatches` with `wait_seconds`.
 */
export function followMatches(
  connection: Connection,
  request: Requests['StreamMatches'] = {},
  options: FollowOptions = {},
): FollowedMatches {
  const { onRestored, onRemoved, onHidden } = options;
  const { cursor, rule_id, platform, relevance } = request;
  const take = async ({ event, data }: ServerSentEvent): Promise<Match | undefined> => {
    if (event === 'removed') await onRemoved?.(JSON.parse(data));
    if (event === 'hidden') onHidden?.(JSON.parse(data));
    return event === 'match' ? JSON.parse(data) : undefined;
  };
  const stream = { operation: 'StreamMatches', filter: { rule_id, platform, relevance }, cursor } as const;
  return follow(connection, { ...stream, ...options, take, idOf: ({ id }) => id, onRestored });
}

/** The same for notices. Each is yielded again when it is resolved. */
export function followNotices(
  connection: Connection,
  { cursor }: Requests['StreamNotices'] = {},
  options: StreamOptions = {},
): FollowedNotices {
  const take = async ({ event, data }: ServerSentEvent): Promise<Notice | undefined> =>
    event === 'notice' ? JSON.parse(data) : undefined;
  const idOf = ({ id, resolved_at }: Notice) => `${id} ${resolved_at}`;
  return follow(connection, { operation: 'StreamNotices', filter: {}, cursor, ...options, take, idOf });
}

interface Stream<Item> extends StreamOptions, RestoreListener {
  readonly operation: 'StreamMatches' | 'StreamNotices';
  readonly filter: Readonly<Record<string, string | undefined>>;
  readonly cursor: string | undefined;
  /** Undefined for events without an item. */
  readonly take: (event: ServerSentEvent) => Promise<Item | undefined>;
  /** Items with the same id are yielded once. */
  readonly idOf: (item: Item) => string;
}

function follow<Item>(connection: Connection, stream: Stream<Item>): Followed<Item> {
  const { signal, silenceMsMax = defaultSilenceMs, onRestored, take, idOf } = stream;
  const isNew = createSeen();
  let { cursor } = stream;
  let retryMs = defaultRetryMs;
  let failures = 0;

  async function* oneConnection(): AsyncGenerator<Item, void> {
    const parser = createEventParser();
    for await (const event of streamEvents(connection, { ...stream, cursor, parser, silenceMsMax })) {
      // Before the cursor moves, because it must not skip an item.
      signal?.throwIfAborted();
      failures = 0;
      retryMs = parser.retryMs ?? retryMs;
      cursor = event.id;
      const item = await take(event);
      if (item !== undefined && isNew(idOf(item))) yield item;
    }
  }

  async function* allConnections(): AsyncGenerator<Item, void> {
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

/** Remembers the latest ids. */
function createSeen(): (id: string) => boolean {
  const seen = new Set<string>();
  return (id) => {
    if (seen.has(id)) return false;
    seen.add(id);
    const [oldest = ''] = seen;
    if (seen.size > idsKept) seen.delete(oldest);
    return true;
  };
}

/** Reading changes nothing, so it also retries internal errors of the server. */
function isWorthReconnecting(error: unknown): error is EarshotError {
  if (!(error instanceof EarshotError)) return false;
  return error.retryable || error.status >= 500;
}

interface Streaming extends Pick<Stream<never>, 'operation' | 'filter' | 'cursor' | 'signal'> {
  readonly parser: EventParser;
  readonly silenceMsMax: number;
}

/** The events of one connection. Silence is measured only during a read, so that a slow loop does not count as silence. */
async function* streamEvents(
  connection: Connection,
  { operation, filter, cursor, parser, signal, silenceMsMax }: Streaming,
): AsyncGenerator<ServerSentEvent, void> {
  const { method, path } = operations[operation];
  const headers = { accept: 'text/event-stream', ...(cursor !== undefined && { 'last-event-id': cursor }) };
  const sending = { method, path, request: filter, headers, signal, timeoutMs: openMsMax };
  const { response, within, close } = await send(connection, sending);
  try {
    if (!response.headers.get('content-type')?.startsWith('text/event-stream') || !response.body) {
      const message = 'The answer is not a stream of events. Check the address of the server.';
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
