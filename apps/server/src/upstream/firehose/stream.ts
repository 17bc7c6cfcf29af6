import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { retryAfterMs, streamChunks, type UpstreamClient } from '../client.ts';
import {
  StreamEnded,
  type StreamEnding,
  type StreamFrame,
  type StreamStart,
  type UpstreamStream,
} from '../upstream-stream.ts';

const timeoutSeconds = 300;
/** A quiet tap sends nothing between `connected` and `end` (firehose.md §6.2). */
const silenceMaxMs = (timeoutSeconds + 20) * 1_000;
const minutesMax = 24 * 60;

/** The tap's stream: server-sent events, resumed by the id of the last one. */
export function createFirehoseStream(client: UpstreamClient): UpstreamStream {
  return {
    async *open(from, signal) {
      const answer = await client.open(`/v1/stream?${query(from)}`, {
        headers: {
          accept: 'text/event-stream',
          'cache-control': 'no-cache',
          ...(from.after === null ? {} : { 'last-event-id': from.after }),
        },
        silenceMaxMs,
        signal,
      });
      if (answer.statusCode !== 200) {
        // Destroying a body that nobody reads is an error of that body, and without a listener the process's end.
        answer.body.on('error', () => undefined).destroy();
        const ending = endingOf(answer.statusCode, retryAfterMs(answer, Date.now()));
        throw new StreamEnded(ending, `Firehose answered ${answer.statusCode}`);
      }
      yield* readFrames(streamChunks(answer.body, signal));
    },
  };
}

/**
 * Without an id a reconnect is a live tail and would lose what lies between: ask for the time since the last
 * proven moment, a minute more than needed. What comes twice is stored once.
 */
function query({ after, since }: StreamStart): string {
  if (after !== null || since === null) return `timeout=${timeoutSeconds}`;
  const minutes = Math.ceil((Date.now() - since.getTime()) / 60_000) + 1;
  return `timeout=${timeoutSeconds}&since=${Math.min(minutesMax, Math.max(1, minutes))}m`;
}

/** The meaning of a status; the body says nothing more. */
function endingOf(status: number, waitMs: number | null): StreamEnding {
  if (status === 401 || status === 403) return { kind: 'credentials' };
  if (status === 402) return { kind: 'no_credit' };
  if (status === 429) return { kind: 'rate_limited', retryAfterMs: waitMs };
  return status >= 500 ? { kind: 'failing', status } : { kind: 'bad_request' };
}

const frameLengthMax = 16 * 1024 * 1024;

/** Server-sent events out of bytes whose chunks may end anywhere (firehose.md §6.5). Always ends by throwing. */
export async function* readFrames(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<StreamFrame> {
  const decoder = new TextDecoder();
  const ready: StreamFrame[] = [];
  let ended: StreamEnded | null = null;
  const parser = createParser({
    maxBufferSize: frameLengthMax,
    onEvent: (message) => {
      ended ??= endOf(message);
      if (!ended) ready.push(...frameOf(message));
    },
    onError: (error) => {
      if (error.type === 'max-buffer-size-exceeded') {
        ended ??= new StreamEnded(
          { kind: 'failing', status: 200 },
          'Firehose sent a frame beyond all bounds',
          error,
        );
      }
    },
  });
  for await (const chunk of chunks) {
    parser.feed(decoder.decode(chunk, { stream: true }));
    yield* ready.splice(0);
    if (ended) throw ended;
  }
  throw new StreamEnded({ kind: 'dropped' }, 'Firehose closed the stream without an end event');
}

function frameOf({ event, id, data }: EventSourceMessage): StreamFrame[] {
  if (event === 'connected') return [{ kind: 'opened' }];
  if (event === 'update') return [{ kind: 'item', upstreamId: id ?? null, text: data }];
  return [];
}

function endOf({ event, data }: EventSourceMessage): StreamEnded | null {
  if (event === 'end') return new StreamEnded({ kind: 'finished' }, 'Firehose ended the stream');
  if (event !== 'error') return null;
  return data.includes('No rules configured')
    ? new StreamEnded({ kind: 'no_rules' }, 'the tap has no rules')
    : new StreamEnded({ kind: 'failing', status: 200 }, `Firehose says ${data.slice(0, 200)}`);
}
