import { streamChunks, type UpstreamClient } from '../client.ts';
import { retryAfterMs } from '../retry-after.ts';
import { StreamEnded, type StreamEnding, type StreamStart, type UpstreamStream } from '../upstream-stream.ts';
import { readFrames } from './read-frames.ts';

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
