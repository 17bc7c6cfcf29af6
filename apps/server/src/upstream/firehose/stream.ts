import type { Dispatcher } from 'undici';
import { discard, retryAfterMs, streamFrames, type UpstreamClient } from '../client.ts';
import { type Line, splitLines } from '../split-lines.ts';
import {
  StreamEnded,
  type StreamEnding,
  type StreamFrame,
  type StreamStart,
  type UpstreamStream,
} from '../upstream-stream.ts';
import { eventIdPattern } from './item.ts';

const timeoutSeconds = 300;
/** A quiet stream sends nothing between `connected` and `end` (firehose.md §6.2). */
const silenceMaxMs = (timeoutSeconds + 20) * 1_000;
const minutesMax = 24 * 60;
/** Largest item limit that can be requested for a stream. */
const limitMax = 10_000;
const idAgeMaxMs = 23 * 3_600_000;

/** The stream of a token: server-sent events, resumed by the id of the last one. */
export function createFirehoseStream(client: UpstreamClient): UpstreamStream {
  return {
    async *open(start, signal) {
      let from = withoutOldId(start);
      let answer = await connect(client, from, signal);
      if (from.after !== null && isBadRequest(answer.statusCode)) {
        // Firehose may no longer have the id. Resuming from the last proven time is as good.
        discard(answer);
        from = { ...from, after: null, since: from.since ?? new Date(0) };
        answer = await connect(client, from, signal);
      }
      if (answer.statusCode !== 200) {
        discard(answer);
        const ending = endingOf(answer.statusCode, retryAfterMs(answer, Date.now()));
        throw new StreamEnded(ending, `Firehose answered ${answer.statusCode}`);
      }
      yield* streamFrames({ body: answer.body, read: readFrames, silenceMaxMs, signal });
    },
  };
}

function connect(
  client: UpstreamClient,
  from: StreamStart,
  signal: AbortSignal,
): Promise<Dispatcher.ResponseData> {
  const resumed = from.after === null ? {} : { 'last-event-id': from.after };
  const headers = { accept: 'text/event-stream', 'cache-control': 'no-cache', ...resumed };
  return client.open(`/v1/stream?${query(from)}`, { headers, silenceMaxMs, signal });
}

/** Firehose keeps events for about a day. Its behaviour for older ids is undocumented. */
function withoutOldId(from: StreamStart): StreamStart {
  const ageMs = from.afterAt ? from.now.getTime() - from.afterAt.getTime() : 0;
  return ageMs > idAgeMaxMs && from.since !== null ? { ...from, after: null } : from;
}

/**
 * Without an id, a reconnect would miss the time in between. So request the time since the last proven moment, plus a
 * minute. Duplicates are stored once.
 */
function query({ after, since, now, itemsMax }: StreamStart): string {
  const ends = `timeout=${timeoutSeconds}${itemsMax === undefined ? '' : `&limit=${Math.min(limitMax, itemsMax)}`}`;
  if (after !== null || since === null) return ends;
  const minutes = Math.ceil((now.getTime() - since.getTime()) / 60_000) + 1;
  return `${ends}&since=${Math.min(minutesMax, Math.max(1, minutes))}m`;
}

const isBadRequest = (status: number) => status >= 400 && endingOf(status, null).kind === 'bad_request';

/** The meaning of a status; the body adds nothing. */
export function endingOf(status: number, waitMs: number | null): StreamEnding {
  if (status === 401 || status === 403) return { kind: 'credentials' };
  if (status === 402) return { kind: 'no_credit' };
  if (status === 429) return { kind: 'rate_limited', retryAfterMs: waitMs };
  return status >= 500 ? { kind: 'failing', status } : { kind: 'bad_request' };
}

const frameBytesMax = 16 * 1024 * 1024;
/** Added to the text size of each line, so that very many empty lines exceed the limit too. */
const lineCost = 64;

/** A server-sent event that is being read. */
interface Message {
  event: string;
  id: string | null;
  hasData: boolean;
  data: string[];
  cost: number;
}

const newMessage = (): Message => ({ event: '', id: null, hasData: false, data: [], cost: 0 });

/**
 * Parses server-sent events from chunks that may end anywhere (firehose.md §6.5). Always ends by throwing. If a frame
 * is too large, its data is skipped and its id is kept.
 */
export async function* readFrames(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<StreamFrame> {
  let message = newMessage();
  let isReported = false;
  for await (const line of splitLines(chunks, { bytesMax: frameBytesMax, endsAtReturn: true })) {
    if (line.text !== '') {
      addLine(message, line);
      // Reported as soon as its id and type are known, because its end may never arrive.
      if (isReported || !isTooLarge(message) || message.id === null || message.event === '') continue;
      yield* framesOf(message);
      isReported = true;
    } else {
      if (!isReported) yield* framesOf(message);
      message = newMessage();
      isReported = false;
    }
  }
  throw new StreamEnded({ kind: 'dropped' }, 'Firehose closed the stream without an end event');
}

function isTooLarge({ cost }: Message): boolean {
  return cost > frameBytesMax;
}

function addLine(message: Message, { text, isCut }: Line): void {
  const colon = text.indexOf(':');
  const field = colon < 0 ? text : text.slice(0, colon);
  const value = colon < 0 ? '' : text.slice(text.charAt(colon + 1) === ' ' ? colon + 2 : colon + 1);
  if (field === 'event') message.event = value;
  if (field === 'id') message.id = !isCut && eventIdPattern.test(value) ? value : null;
  if (field !== 'data') return;
  message.hasData = true;
  message.cost += isCut ? Number.POSITIVE_INFINITY : value.length + lineCost;
  if (isTooLarge(message)) message.data = [];
  else message.data.push(value);
}

function* framesOf(message: Message): Generator<StreamFrame> {
  const { event, id: upstreamId } = message;
  if (!message.hasData) return;
  const text = message.data.join('\n');
  const ended = endOf(event, text);
  if (ended) throw ended;
  if (event === 'connected') yield { kind: 'opened' };
  if (event !== 'update') return;
  if (isTooLarge(message)) yield { kind: 'too_large', upstreamId };
  else yield { kind: 'item', upstreamId, text };
}

function endOf(event: string, words: string): StreamEnded | null {
  if (event === 'end') return new StreamEnded({ kind: 'finished' }, 'Firehose ended the stream');
  if (event !== 'error') return null;
  return words.includes('No rules configured')
    ? new StreamEnded({ kind: 'no_rules' }, 'the token has no rules')
    : new StreamEnded({ kind: 'failing', status: 200 }, `Firehose sent the error ${words.slice(0, 200)}`);
}
