import type { ServerResponse } from 'node:http';
import { setImmediate as nextTurnOfLoop } from 'node:timers/promises';
import type { EventBatch, EventStream } from '../accounts/call.ts';
import type { MatchStreamEnding } from '../observability/metrics.ts';

/** Proxies and clients treat a silent connection as dead. */
const commentEveryMs = 15_000;
const reconnectAfterMs = 3_000;
/** The most that is buffered for one client. */
const unsentBytesMax = 1024 * 1024;
const drainWithinMs = 30_000;
/** After this many batches other clients are served first: a client may read as fast as it is written to. */
const sentInTurnMax = 8;

export interface SendEventsOptions {
  /** The client has disconnected, its key has ended, or the node shuts down. */
  readonly signal: AbortSignal;
  readonly keyEnded: AbortSignal;
  readonly commentEveryMs?: number;
  readonly drainWithinMs?: number;
}

interface StreamEnd {
  readonly ending: MatchStreamEnding;
  readonly err?: unknown;
}

export const eventStreamHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  // Otherwise proxies such as nginx buffer the answer.
  'x-accel-buffering': 'no',
  // The answer ends with its connection, without chunks: framing each event takes as long as sending it.
  connection: 'close',
} as const;

/**
 * Writes events as long as the client reads them, and takes the next only when the previous ones were sent. A slow client holds only a
 * few of them in memory, and a client that reads nothing is disconnected. Returns the reason of the end.
 *
 * From the wake-up of the stream to the socket there is no promise and no timer: with thousands of streams they would cost more than
 * sending.
 */
export async function sendEvents(
  response: ServerResponse,
  stream: EventStream,
  options: SendEventsOptions,
): Promise<StreamEnd> {
  response.write(`retry: ${reconnectAfterMs}\n\n`);
  const { signal } = options;
  using silence = createSilence(options.commentEveryMs ?? commentEveryMs);
  const ended = await new Promise<StreamEnd>((resolve) => {
    const poll = createPoll(response, stream, { ...options, onSent: silence.isOver, end: resolve });
    silence.onSilence(() => {
      // A comment is also due during a read, which may take as long as the database is down.
      if (!socketOf(response).writableNeedDrain) socketOf(response).write(comment);
      poll();
    });
    signal.addEventListener('abort', poll, { once: true });
    stream.onMore(poll);
    poll();
  });
  // Waiting for a client that does not read would delay a shutdown.
  if (socketOf(response).writableNeedDrain) response.destroy();
  else response.end();
  return ended;
}

/** Returns a function to call whenever there may be more to send. Calls `end` once. */
function createPoll(
  response: ServerResponse,
  stream: EventStream,
  options: SendEventsOptions & { onSent: () => void; end: (ended: StreamEnd) => void },
): () => void {
  const { signal, keyEnded } = options;
  /** It reads, or waits for the client. If it was called in the meantime, it polls again afterwards. */
  let isBusy = false;
  let isCalled = false;
  let isOver = false;
  const finish = (ended: StreamEnd) => {
    if (isOver) return;
    isOver = true;
    options.end(ended);
  };
  /** Continues with the outcome later. Without an outcome, it continues only if it was called. */
  const pollAfter = <Outcome>(work: Promise<Outcome>, then: (outcome: Outcome) => boolean) => {
    isBusy = true;
    isCalled = false;
    const proceed = (outcome: Outcome) => {
      isBusy = false;
      if (then(outcome) || isCalled) poll();
    };
    work.then(proceed).catch((err: unknown) => finish({ ending: 'failed', err }));
  };
  /** Returns whether the next batch can be sent at once. */
  const send = (bytes: Buffer): boolean => {
    options.onSent();
    if (socketOf(response).write(bytes)) return true;
    if (socketOf(response).writableLength > unsentBytesMax) finish({ ending: 'slow' });
    else
      pollAfter(waitForDrain(response, options), (drained) => {
        if (!drained && !response.destroyed && !signal.aborted) finish({ ending: 'slow' });
        return !isOver;
      });
    return false;
  };
  const isEnding = (): boolean => {
    if (response.destroyed) finish({ ending: 'gone' });
    else if (signal.aborted) finish({ ending: keyEnded.aborted ? 'key' : 'leaving' });
    return isOver;
  };
  const pollNow = () => {
    for (let sent = 0; !isEnding(); sent++) {
      if (sent === sentInTurnMax) return pollAfter(nextTurnOfLoop(), () => true);
      const batch = stream.take(signal);
      if (batch instanceof Promise) {
        return pollAfter(batch, (read) => read.events.length > 0 && !isEnding() && send(encode(read)));
      }
      if (batch.events.length === 0 || !send(encode(batch))) return;
    }
  };
  const poll = () => {
    isCalled = true;
    if (isBusy || isOver) return;
    try {
      pollNow();
    } catch (err) {
      finish({ ending: 'failed', err });
    }
  };
  return poll;
}

/** Calls back after each silence of this length. Ending a silence does not restart the timer. */
function createSilence(ms: number) {
  let since = performance.now();
  let call = () => undefined as void;
  const onTimer = () => {
    const leftMs = since + ms - performance.now();
    timer = setTimeout(onTimer, leftMs > 1 ? leftMs : ms);
    if (leftMs <= 1) call();
  };
  let timer = setTimeout(onTimer, ms);
  return {
    onSilence: (called: () => void) => {
      call = called;
    },
    isOver: () => {
      since = performance.now();
    },
    [Symbol.dispose]: () => clearTimeout(timer),
  };
}

/** Writes go directly to the socket: the response would defer each piece to the end of the turn. A response waits for its socket. */
function socketOf(response: ServerResponse) {
  return response.socket ?? response;
}

const comment = Buffer.from(':\n\n');
/** The data is JSON, so it has no line breaks. */
function encode(batch: EventBatch): Buffer {
  batch.bytes ??= Buffer.from(
    batch.events.map(({ id, event, data }) => `id: ${id}\nevent: ${event}\ndata: ${data}\n\n`).join(''),
  );
  return batch.bytes;
}

/** `write` returns false if the buffer is full: the next event then waits for "drain", or for "close". */
function waitForDrain(response: ServerResponse, options: SendEventsOptions): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = socketOf(response);
    const done = (drained: boolean) => {
      clearTimeout(timer);
      socket.off('drain', onDrain).off('close', onEnd);
      options.signal.removeEventListener('abort', onEnd);
      resolve(drained);
    };
    const onDrain = () => done(true);
    const onEnd = () => done(false);
    const timer = setTimeout(onEnd, options.drainWithinMs ?? drainWithinMs);
    socket.once('drain', onDrain).once('close', onEnd);
    options.signal.addEventListener('abort', onEnd, { once: true });
    if (response.destroyed || options.signal.aborted) onEnd();
  });
}
