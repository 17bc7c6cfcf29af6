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
  // Ends with its connection, not by chunks: to frame each event takes as long as to send it.
  connection: 'close',
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
      for (const bytes of events.length > 0 ? events.map(encode) : [comment]) {
        const stop = await write(response, bytes, options);
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
  if (response.writableNeedDrain) response.destroy();
  else response.end();
  return ended;
}

const comment = Buffer.from(':\n\n');
const encoded = new WeakMap<ServerEvent, Buffer>();

/** The data is JSON and so has no line breaks. */
function encode(event: ServerEvent): Buffer {
  const known = encoded.get(event);
  if (known) return known;
  const bytes = Buffer.from(`id: ${event.id}\nevent: ${event.event}\ndata: ${event.data}\n\n`);
  encoded.set(event, bytes);
  return bytes;
}

/** `write` returns false when the buffer is full: the next event waits for "drain", or for "close". */
async function write(
  response: ServerResponse,
  bytes: Buffer,
  options: SendEventsOptions,
): Promise<StreamEnding | null> {
  if (response.write(bytes)) return null;
  if (response.writableLength > unsentBytesMax) return 'slow';
  const drained = await waitForDrain(response, options);
  if (response.destroyed) return 'gone';
  return drained || options.signal.aborted ? null : 'slow';
}

function waitForDrain(response: ServerResponse, options: SendEventsOptions): Promise<boolean> {
  return new Promise((resolve) => {
    const done = (drained: boolean) => {
      clearTimeout(timer);
      response.off('drain', onDrain).off('close', onEnd);
      options.signal.removeEventListener('abort', onEnd);
      resolve(drained);
    };
    const onDrain = () => done(true);
    const onEnd = () => done(false);
    const timer = setTimeout(onEnd, options.drainWithinMs ?? drainWithinMs);
    response.once('drain', onDrain).once('close', onEnd);
    options.signal.addEventListener('abort', onEnd, { once: true });
    if (response.destroyed || options.signal.aborted) onEnd();
  });
}
