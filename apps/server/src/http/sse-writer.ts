import type { ServerResponse } from 'node:http';
import type { EventStream, ServerEvent } from '../accounts/call.ts';
import type { StreamEnding } from '../observability/metrics.ts';

/** Proxies and clients take a silent connection for a dead one. */
const commentEveryMs = 15_000;
const reconnectAfterMs = 3_000;
/** What may be buffered for one client. */
const unsentBytesMax = 1024 * 1024;
const drainWithinMs = 30_000;

export interface SendEventsOptions {
  /** The client has disconnected, its key has ended, or the node shuts down. */
  readonly signal: AbortSignal;
  readonly keyEnded: AbortSignal;
  readonly commentEveryMs?: number;
  readonly drainWithinMs?: number;
}

export const eventStreamHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  // Otherwise proxies of the nginx family buffer the answer.
  'x-accel-buffering': 'no',
} as const;

/**
 * Writes events for as long as the client reads them, and asks for the next only when the previous ones were sent: a
 * slow client holds only a few of them in memory, and one that reads nothing is closed. Returns why it ended.
 */
export async function sendEvents(
  response: ServerResponse,
  stream: EventStream,
  options: SendEventsOptions,
): Promise<{ ending: StreamEnding; err?: unknown }> {
  const { signal, keyEnded } = options;
  const waitMs = options.commentEveryMs ?? commentEveryMs;
  const sendAll = async (): Promise<StreamEnding> => {
    for (;;) {
      const events = await stream.nextEvents(waitMs, signal);
      if (response.destroyed) return 'gone';
      if (signal.aborted) return keyEnded.aborted ? 'key' : 'leaving';
      for (const chunk of events.length > 0 ? events.map(encode) : [comment]) {
        const stop = await write(response, chunk, options);
        if (stop) return stop;
        if (signal.aborted) break;
      }
    }
  };
  response.write(`retry: ${reconnectAfterMs}\n\n`);
  const ended = await sendAll().then(
    (ending) => ({ ending }),
    (err: unknown) => ({ ending: 'failed' as const, err }),
  );
  // Waiting for a client that does not read would delay a shutdown.
  if (response.writableNeedDrain || response.socket?.writableNeedDrain) response.destroy();
  else response.end();
  return ended;
}

/** What is written at once, also as a chunk of an answer in HTTP/1.1 (RFC 9112, 7.1). */
interface Chunk {
  readonly bytes: Buffer;
  readonly framed: Buffer;
}

function toChunk(text: string): Chunk {
  const head = `${Buffer.byteLength(text).toString(16)}\r\n`;
  const framed = Buffer.from(`${head}${text}\r\n`);
  return { framed, bytes: framed.subarray(head.length, -2) };
}

const comment = toChunk(':\n\n');
const encoded = new WeakMap<ServerEvent, Chunk>();

/** Once for all streams that get the event. The data is JSON and so has no line breaks. */
function encode(event: ServerEvent): Chunk {
  const known = encoded.get(event);
  if (known) return known;
  const chunk = toChunk(`id: ${event.id}\nevent: ${event.event}\ndata: ${event.data}\n\n`);
  encoded.set(event, chunk);
  return chunk;
}

/** `write` returns false when the buffer is full: the next event waits for "drain", or for "close". */
async function write(
  response: ServerResponse,
  chunk: Chunk,
  options: SendEventsOptions,
): Promise<StreamEnding | null> {
  if (writeChunk(response, chunk)) return null;
  if (response.writableLength > unsentBytesMax) return 'slow';
  const drained = await waitForDrain(response, options);
  if (response.destroyed) return 'gone';
  return drained || options.signal.aborted ? null : 'slow';
}

/**
 * The response's own `write` hands each chunk to the socket in four pieces, which takes twice the time. The socket is written to
 * only when the response holds nothing back, as it does while it waits for the answer to an earlier request on the connection.
 */
function writeChunk(response: ServerResponse, { bytes, framed }: Chunk): boolean {
  const { socket, chunkedEncoding, writableLength } = response;
  const isDirect = chunkedEncoding && socket?.writable && writableLength === socket.writableLength;
  return isDirect ? socket.write(framed) : response.write(bytes);
}

function waitForDrain(response: ServerResponse, options: SendEventsOptions): Promise<boolean> {
  const { socket } = response;
  return new Promise((resolve) => {
    const done = (drained: boolean) => {
      clearTimeout(timer);
      response.off('drain', onDrain).off('close', onEnd);
      socket?.off('drain', onDrain);
      options.signal.removeEventListener('abort', onEnd);
      resolve(drained);
    };
    const onDrain = () => done(true);
    const onEnd = () => done(false);
    const timer = setTimeout(onEnd, options.drainWithinMs ?? drainWithinMs);
    response.once('drain', onDrain).once('close', onEnd);
    socket?.once('drain', onDrain);
    options.signal.addEventListener('abort', onEnd, { once: true });
    if (response.destroyed || options.signal.aborted) onEnd();
  });
}
