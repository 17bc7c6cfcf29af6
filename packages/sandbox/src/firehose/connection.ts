import type { ServerResponse } from 'node:http';
import type { Clock } from '../clock.ts';
import type { Faults } from '../faults.ts';
import type { Random } from '../random.ts';
import { createRecordWriter, type WireOddities } from '../record-writer.ts';
import { createStreamPipe } from '../stream-pipe.ts';
import { toEventId } from './event-log.ts';
import { matchUsd, type Organization } from './organization.ts';
import type { FirehoseConnection, Tap } from './tap.ts';

export interface FirehoseConnectionOptions {
  readonly response: ServerResponse;
  readonly tap: Tap;
  readonly organization: Organization;
  readonly fromOffset: number;
  /** Events after which the stream ends. */
  readonly limit: number;
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly faults: Faults;
}

/** A client that reads slowly gets the events later: unlike X, the log waits for it. */
const backlogBytesMax = 1024 * 1024;

const oddities: WireOddities = {
  unknown: ': a comment\nevent: surprise\ndata: {}\n\n',
  broken: 'event: update\ndata: {"document":\n\n',
  // The first event format always carried the whole page.
  enlarge: (record, bytes) =>
    record.replace('"document":{', () => `"document":{"markdown":"${'x'.repeat(bytes)}",`),
};

export function openFirehoseConnection(options: FirehoseConnectionOptions): FirehoseConnection {
  const { response, tap, organization, clock, faults } = options;
  const scope = { platform: 'firehose', token: tap.token } as const;
  let nextOffset = options.fromOffset;
  let left = options.limit;

  const send = (event: string, data: string) => pipe.write(`event: ${event}\ndata: ${data}\n\n`);
  const end = () => {
    // A stalled stream never says goodbye, and a stream says it once.
    if (pipe.isStalled() || !tap.connections.delete(connection)) return;
    send('end', '{}');
    pipe.end();
  };
  const stopTimer = clock.after(options.timeoutMs, end);
  const pipe = createStreamPipe({
    response,
    random: options.random,
    onClose: () => {
      stopTimer();
      tap.connections.delete(connection);
    },
  });

  const writeRecord = createRecordWriter({ pipe, faults, scope, oddities });
  let isMuted = false;

  const deliverNext = (): boolean => {
    const event = tap.log.firstFrom(nextOffset);
    if (event === undefined || left === 0) return false;
    nextOffset = event.offset + 1;
    left -= 1;
    charge(tap, organization, event.chargeKey);
    writeRecord(`id: ${toEventId(event.offset)}\nevent: update\ndata: ${event.data}\n\n`);
    return true;
  };

  const connection: FirehoseConnection = {
    pump() {
      let isBehind = true;
      while (isBehind && canSend()) isBehind = deliverNext();
      if (left === 0) end();
    },
    stall: pipe.stall,
    isStalled: pipe.isStalled,
    cut: pipe.destroy,
    reset: pipe.reset,
    end: () => {
      tap.connections.delete(connection);
      pipe.end();
    },
    tell: (message) => send('error', JSON.stringify({ message })),
    mute: () => {
      isMuted = true;
    },
  };
  const canSend = () =>
    tap.connections.has(connection) &&
    !pipe.isStalled() &&
    !isMuted &&
    tap.status === 'active' &&
    pipe.backlogBytes() < backlogBytesMax;

  pipe.onDrain(connection.pump);
  send('connected', '{}');
  return connection;
}

/** A page is charged when it is delivered for the first time, also on a replay. */
function charge(tap: Tap, organization: Organization, chargeKey: string): void {
  tap.eventsDelivered += 1;
  if (tap.charged.has(chargeKey)) return;
  tap.charged.add(chargeKey);
  organization.balanceUsd -= matchUsd;
}
