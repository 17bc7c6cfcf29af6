import type { ServerResponse } from 'node:http';
import type { Clock } from '../clock.ts';
import type { Faults } from '../faults.ts';
import type { Random } from '../random.ts';
import { createRecordWriter, type RecordFaults } from '../record-writer.ts';
import { createStreamPipe } from '../stream-pipe.ts';
import type { XConnection } from './connections.ts';
import { type Projection, project } from './projection.ts';

export interface XConnectionOptions {
  readonly response: ServerResponse;
  readonly projection: Projection;
  readonly token: string;
  readonly keepAliveMs: number;
  readonly backlogBytesMax: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly faults: Faults;
  /** Gets the posts that the client may not have read when the connection closed. */
  readonly onClose: (unconfirmedPostIds: string[]) => void;
}

const recordFaults: RecordFaults = {
  unknownMessage: '{"meta":{"kind":"surprise"}}\r\n',
  brokenRecord: '{"data":{"id":\r\n',
  enlarge: (record, bytes) =>
    `{"data":{"id":"1","text":"${'x'.repeat(bytes)}"},"matching_rules":[]}\r\n${record}`,
};

export function openXConnection(options: XConnectionOptions): XConnection {
  const { response, projection, token, keepAliveMs, clock, random, faults } = options;
  const written = createWrittenPosts(clock.nowMs);
  const stopKeepAlive = clock.every(keepAliveMs, () => pipe.write('\r\n'));
  const pipe = createStreamPipe({
    response,
    random,
    onClose: () => {
      stopKeepAlive();
      options.onClose(written.unconfirmed());
    },
  });
  const writeRecord = createRecordWriter({ pipe, faults, scope: { platform: 'x', token }, recordFaults });

  return {
    pipe,
    deliver(post, rules) {
      if (!pipe.takesRecords()) return undefined;
      const record = project(post, rules, projection);
      writeRecord(`${JSON.stringify(record)}\r\n`, written.add(post.id));
      return record;
    },
    isSlow: () => pipe.backlogBytes() > options.backlogBytesMax,
  };
}

/** Real time for which bytes that left this process may still sit unread in a socket buffer. */
const confirmedAfterMs = 2_000;

/** The posts written lately: X never learns whether the client read them. */
function createWrittenPosts(nowMs: () => number) {
  let written: Array<{ postId: string; flushedAtMs: number | undefined }> = [];
  let nextSweepAtMs = 0;
  const isUnconfirmed = ({ flushedAtMs }: { flushedAtMs: number | undefined }) =>
    flushedAtMs === undefined || flushedAtMs > nowMs() - confirmedAfterMs;
  return {
    /** Returns what to call once the bytes have left this process. */
    add(postId: string): () => void {
      if (nowMs() >= nextSweepAtMs) {
        written = written.filter(isUnconfirmed);
        nextSweepAtMs = nowMs() + confirmedAfterMs;
      }
      const entry: (typeof written)[number] = { postId, flushedAtMs: undefined };
      written.push(entry);
      return () => {
        entry.flushedAtMs = nowMs();
      };
    },
    unconfirmed: () => [...new Set(written.filter(isUnconfirmed).map(({ postId }) => postId))],
  };
}
