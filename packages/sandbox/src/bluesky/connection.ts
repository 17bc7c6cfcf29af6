import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import type { Clock } from '../clock.ts';
import { type Faults, splitAtRandom } from '../faults.ts';
import type { Random } from '../random.ts';
import type { Bluesky, BlueskyConnection } from './bluesky.ts';
import type { LoggedEvent } from './event-log.ts';
import { createFrameWriter, type FrameFaults } from './frame-writer.ts';
import { writeError } from './frames.ts';
import { type Subscription, wants } from './subscription.ts';

/** What the two endpoints do differently on an open connection. */
export interface Endpoint {
  readonly path: string;
  readonly frameFaults: FrameFaults;
  /** Whether a frame from the client ends the connection. */
  readonly isPushOnly: boolean;
  encode(event: LoggedEvent, knobs: Bluesky['knobs']): Buffer;
}

interface ConnectionOptions {
  readonly webSocket: WebSocket;
  readonly socket: Socket;
  readonly endpoint: Endpoint;
  readonly subscription: Subscription;
  readonly fromSeq: number;
  readonly bluesky: Bluesky;
  readonly clock: Clock;
  readonly random: Random;
  readonly faults: Faults;
}

/** Unsent bytes at which a connection waits until its client has read. */
const backlogBytesMax = 256 * 1024;

/** One client: a position in the log that it advances at the client's pace. */
export function openBlueskyConnection(options: ConnectionOptions): BlueskyConnection {
  const { webSocket, socket, endpoint, subscription, bluesky, clock, random, faults } = options;
  const { log, knobs } = bluesky;
  const openedAt = new Date(clock.nowMs()).toISOString();
  let nextSeq = options.fromSeq;
  let framesSent = 0;
  let stalled = false;
  let muted = false;
  let failed = false;
  let isSending = false;

  const deadline = createDeadline(knobs.writeTimeoutMs, () => webSocket.terminate());
  const pongDeadline = createDeadline(knobs.writeTimeoutMs, () => webSocket.terminate());
  const stopPings = clock.every(knobs.pingMs, () => {
    if (stalled || webSocket.readyState !== webSocket.OPEN) return;
    webSocket.ping();
    pongDeadline.start();
  });

  const writeFrame = createFrameWriter({
    faults,
    frameFaults: endpoint.frameFaults,
    send: (frames, how) => {
      framesSent += frames.length;
      if (how === 'whole') for (const frame of frames) webSocket.send(frame, { binary: false });
      else sendFragments(frames.flatMap((frame) => toFragments(frame, random)));
    },
  });

  // One fragment per turn of the event loop; otherwise the kernel would join them again.
  const sendFragments = (fragments: Fragment[]) => {
    isSending = true;
    const sendNext = () => {
      const fragment = fragments.shift();
      if (fragment !== undefined && !stalled) {
        webSocket.send(fragment.bytes, { binary: false, fin: fragment.fin });
        setImmediate(sendNext);
        return;
      }
      isSending = false;
      pump();
    };
    setImmediate(sendNext);
  };

  const canSend = () =>
    webSocket.readyState === webSocket.OPEN &&
    !stalled &&
    !muted &&
    !failed &&
    !isSending &&
    webSocket.bufferedAmount < backlogBytesMax;

  const fail = (frame: string) => {
    failed = true;
    // The server closes at once after an error, without a close frame.
    webSocket.send(frame, () => webSocket.terminate());
  };

  const deliverNext = (): boolean => {
    if (log.isDropped(nextSeq)) {
      fail(writeError('InternalError', 'archive replay unavailable; reconnect'));
      return false;
    }
    const event = log.at(nextSeq);
    if (event === undefined) return false;
    nextSeq += 1;
    if (!wants(subscription, event)) return true;
    const frame = endpoint.encode(event, knobs);
    const sizeMax = subscription.maxMessageSizeBytes;
    if (sizeMax === 0 || frame.length <= sizeMax) writeFrame(frame);
    return true;
  };

  const pump = () => {
    socket.cork();
    let isBehind = true;
    while (isBehind && canSend()) isBehind = deliverNext();
    socket.uncork();
    if (!stalled && webSocket.bufferedAmount >= backlogBytesMax) deadline.start();
  };

  const connection: BlueskyConnection = {
    stream: {
      stall: () => {
        stalled = true;
        deadline.stop();
        pongDeadline.stop();
        socket.removeAllListeners('data');
      },
      isStalled: () => stalled,
      mute: () => {
        muted = true;
      },
      write: (frame: string) => webSocket.send(frame),
      end: () => webSocket.close(1001, 'server shutting down'),
      destroy: () => webSocket.terminate(),
      reset: () => void socket.resetAndDestroy(),
    },
    pump,
    fail,
    describe: () => ({
      endpoint: endpoint.path,
      kinds: subscription.kinds ? [...subscription.kinds] : null,
      collections: subscription.collections ?? null,
      dids: subscription.dids?.size ?? null,
      next_seq: nextSeq,
      frames_sent: framesSent,
      backlog_bytes: webSocket.bufferedAmount,
      stalled,
      opened_at: openedAt,
    }),
  };

  socket.on('drain', () => {
    deadline.stop();
    pump();
  });
  webSocket.on('message', () => {
    if (endpoint.isPushOnly && !stalled) webSocket.close(1008, 'unexpected data message');
  });
  webSocket.on('pong', pongDeadline.stop);
  webSocket.on('error', () => undefined);
  webSocket.once('close', () => {
    stopPings();
    deadline.stop();
    pongDeadline.stop();
    bluesky.connections.delete(connection);
  });
  bluesky.connections.add(connection);
  bluesky.connectionsTotal += 1;
  return connection;
}

interface Fragment {
  readonly bytes: Buffer;
  readonly fin: boolean;
}

function toFragments(frame: Buffer, random: Random): Fragment[] {
  const pieces = splitAtRandom(frame, random);
  return pieces.map((bytes, index) => ({ bytes, fin: index === pieces.length - 1 }));
}

/** `start` does nothing while the deadline runs. */
function createDeadline(ms: number, action: () => void) {
  let timer: NodeJS.Timeout | undefined;
  return {
    start: () => {
      timer ??= setTimeout(action, ms).unref();
    },
    stop: () => {
      clearTimeout(timer);
      timer = undefined;
    },
  };
}
