import type { IncomingMessage } from 'node:http';
import { WebSocket } from 'ws';
import { repeat } from '../../runtime/worker.ts';
import { StreamEnded, type StreamEnding } from '../upstream-stream.ts';

/** Records have at most 1 MiB. A longer message ends the connection. */
const messageBytesMax = 4 * 1024 * 1024;
const openWithinMs = 30_000;
const pingEveryMs = 15_000;
/** An instance sends posts many times per second, and answers pings. */
const silenceMaxMs = 45_000;
/** Messages that wait for the reader. Beyond, the socket is not read. */
const waitingMax = 1_000;
const errorBytesMax = 4_096;

/**
 * Opens a WebSocket and yields its messages in groups, as fast as the reader takes them. The group is empty when the
 * socket opens, and when something else called `onNudge`. Ends with StreamEnded.
 */
export async function* readSocket(
  url: URL,
  signal: AbortSignal,
  onNudge: (nudge: () => void) => void,
): AsyncGenerator<string[], never> {
  const socket = new WebSocket(url, ['xrpc.v1.json'], {
    perMessageDeflate: false,
    maxPayload: messageBytesMax,
    handshakeTimeout: openWithinMs,
    headers: { 'user-agent': 'earshot/0.1' },
  });
  const state = watchSocket(socket);
  onNudge(() => state.nudge());
  const stop = () => socket.terminate();
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  using _pings = repeat(pingEveryMs, () => {
    if (performance.now() - state.lastByteAt > silenceMaxMs) {
      state.end(
        { kind: 'stalled', silentMs: performance.now() - state.lastByteAt },
        'no message for too long',
      );
      socket.terminate();
    } else if (socket.readyState === WebSocket.OPEN) socket.ping();
  });
  try {
    for (;;) {
      if (state.messages.length > 0 || state.takeNudge()) {
        yield state.messages.splice(0);
        socket.resume();
      } else if (state.ended) {
        throw signal.aborted
          ? new StreamEnded({ kind: 'stopped' }, 'closed by Earshot', state.ended)
          : state.ended;
      } else await state.changed();
    }
  } finally {
    signal.removeEventListener('abort', stop);
    socket.terminate();
  }
}

function watchSocket(socket: WebSocket) {
  let wake = () => undefined as void;
  let isNudged = false;
  let isOpen = false;
  const state = {
    messages: [] as string[],
    lastByteAt: performance.now(),
    ended: null as StreamEnded | null,
    end(ending: StreamEnding, detail: string, cause?: unknown): void {
      state.ended ??= new StreamEnded(ending, detail, cause);
      wake();
    },
    nudge(): void {
      isNudged = isOpen;
      wake();
    },
    takeNudge(): boolean {
      const wasNudged = isNudged;
      isNudged = false;
      return wasNudged;
    },
    changed: () =>
      new Promise<void>((resolve) => {
        wake = resolve;
      }),
  };
  socket.on('open', () => {
    isOpen = true;
    state.nudge();
  });
  socket.on('message', (data: Buffer) => {
    state.lastByteAt = performance.now();
    state.messages.push(data.toString());
    if (state.messages.length >= waitingMax) socket.pause();
    wake();
  });
  for (const event of ['ping', 'pong'] as const)
    socket.on(event, () => {
      state.lastByteAt = performance.now();
    });
  socket.on('unexpected-response', (_request, response) => {
    void readError(response).then(({ ending, words }) => {
      state.end(ending, words);
      socket.terminate();
    });
  });
  socket.on('error', (error) =>
    state.end({ kind: isOpen ? 'dropped' : 'unreachable' }, 'Bluesky did not answer', error),
  );
  socket.on('close', (code) => state.end({ kind: 'dropped' }, `the connection ended (${code})`));
  return state;
}

/** An answer without an upgrade. */
async function readError(response: IncomingMessage): Promise<{ ending: StreamEnding; words: string }> {
  const status = response.statusCode ?? 0;
  let body = '';
  try {
    for await (const chunk of response) {
      body += String(chunk);
      if (body.length > errorBytesMax) break;
    }
  } catch {
    // The status is enough.
  }
  const seconds = Number(response.headers['retry-after']);
  const retryAfterMs = Number.isFinite(seconds) ? Math.min(900_000, Math.max(0, seconds * 1_000)) : null;
  const words = `Bluesky answered ${status}: ${body.slice(0, 300)}`;
  if (status === 429) return { ending: { kind: 'rate_limited', retryAfterMs }, words };
  if (status >= 500) return { ending: { kind: 'failing', status }, words };
  if (status === 401 || status === 403) return { ending: { kind: 'credentials' }, words };
  return { ending: { kind: 'bad_request' }, words };
}
