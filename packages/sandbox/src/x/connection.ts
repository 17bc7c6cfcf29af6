import type { ServerResponse } from 'node:http';
import type { Clock } from '../clock.ts';
import type { Faults } from '../faults.ts';
import type { Random } from '../random.ts';
import { createRecordWriter, type WireOddities } from '../record-writer.ts';
import { createStreamPipe } from '../stream-pipe.ts';
import { type Projection, project } from './projection.ts';
import type { XConnection } from './slots.ts';

export interface XConnectionOptions {
  readonly response: ServerResponse;
  readonly projection: Projection;
  readonly token: string;
  readonly backlogBytesMax: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly faults: Faults;
  /** Gets the Posts whose bytes may have died in a buffer when the connection ended. */
  readonly onClose: (unconfirmedPostIds: string[]) => void;
}

const keepAliveMs = 20_000;

const oddities: WireOddities = {
  unknown: '{"meta":{"kind":"surprise"}}\r\n',
  broken: '{"data":{"id":\r\n',
  enlarge: (record, bytes) =>
    `{"data":{"id":"1","text":"${'x'.repeat(bytes)}"},"matching_rules":[]}\r\n${record}`,
};

export function openXConnection(options: XConnectionOptions): XConnection {
  const { response, projection, token, clock, random, faults } = options;
  const flights = createFlights(clock.nowMs);
  const stopKeepAlive = clock.every(keepAliveMs, () => pipe.write('\r\n'));
  const pipe = createStreamPipe({
    response,
    random,
    onClose: () => {
      stopKeepAlive();
      options.onClose(flights.unconfirmed());
    },
  });

  const writeRecord = createRecordWriter({ pipe, faults, scope: { platform: 'x', token }, oddities });
  let isMuted = false;

  return {
    projection,
    deliver(post, rules) {
      if (isMuted || pipe.isClosed() || pipe.isStalled()) return false;
      writeRecord(`${JSON.stringify(project(post, rules, projection))}\r\n`, flights.start(post.id));
      return true;
    },
    tell: (message) => pipe.write(`${JSON.stringify(message)}\r\n`),
    mute: () => {
      isMuted = true;
    },
    isSlow: () => pipe.backlogBytes() > options.backlogBytesMax,
    cork: pipe.cork,
    uncork: pipe.uncork,
    stall: pipe.stall,
    isStalled: pipe.isStalled,
    cut: pipe.destroy,
    reset: pipe.reset,
    end: pipe.end,
  };
}

/** Real time for which bytes that left this process may still sit unread in a socket buffer. */
const confirmedAfterMs = 2_000;

/** Which Posts were written lately: X never learns whether the client read them. */
function createFlights(nowMs: () => number) {
  let flights: Array<{ postId: string; flushedAtMs: number | undefined }> = [];
  let nextSweepAtMs = 0;
  const isOpen = ({ flushedAtMs }: { flushedAtMs: number | undefined }) =>
    flushedAtMs === undefined || flushedAtMs > nowMs() - confirmedAfterMs;
  return {
    start(postId: string): () => void {
      if (nowMs() >= nextSweepAtMs) {
        flights = flights.filter(isOpen);
        nextSweepAtMs = nowMs() + confirmedAfterMs;
      }
      const flight: (typeof flights)[number] = { postId, flushedAtMs: undefined };
      flights.push(flight);
      return () => {
        flight.flushedAtMs = nowMs();
      };
    },
    unconfirmed: () => [...new Set(flights.filter(isOpen).map(({ postId }) => postId))],
  };
}
