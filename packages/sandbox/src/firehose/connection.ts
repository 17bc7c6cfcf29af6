import type { ServerResponse } from 'node:http';
import type { Clock } from '../clock.ts';
import type { Faults } from '../faults.ts';
import type { Random } from '../random.ts';
import { createRecordWriter, type RecordFaults } from '../record-writer.ts';
import { createStreamPipe } from '../stream-pipe.ts';
import { matchMicroUsd, type Organization } from './organization.ts';
import { toEventId } from './replay-buffer.ts';
import type { FirehoseConnection, Tap } from './tap.ts';

export interface FirehoseConnectionOptions {
  readonly response: ServerResponse;
  readonly tap: Tap;
  readonly organization: Organization;
  readonly fromOffset: number;
  /** The stream ends after this many events. */
  readonly eventsMax: number;
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly faults: Faults;
}

/** A slow client gets its events later: unlike X, the replay buffer keeps them. */
const backlogBytesMax = 1024 * 1024;

const recordFaults: RecordFaults = {
  unknownMessage: ': a comment\nevent: surprise\ndata: {}\n\n',
  brokenRecord: 'event: update\ndata: {"document":\n\n',
  // The first event format always carried the whole page.
  enlarge: (record, bytes) =>
    record.replace('"document":{', () => `"document":{"markdown":"${'x'.repeat(bytes)}",`),
};

export function sseFrame(event: string, data: string): string {
  return `event: ${event}\ndata: ${data}\n\n`;
}

export function openFirehoseConnection(options: FirehoseConnectionOptions): FirehoseConnection {
  const { response, tap, organization, clock, random, faults } = options;
  let nextOffset = options.fromOffset;
  let eventsLeft = options.eventsMax;

  const end = () => {
    pipe.write(sseFrame('end', '{}'));
    pipe.end();
  };
  const stopTimer = clock.after(options.timeoutMs, end);
  const pipe = createStreamPipe({
    response,
    random,
    onClose: () => {
      stopTimer();
      tap.connections.delete(connection);
    },
  });
  const scope = { platform: 'firehose', token: tap.token } as const;
  const writeRecord = createRecordWriter({ pipe, faults, scope, recordFaults });

  const deliverNext = (): boolean => {
    const event = tap.buffer.firstFrom(nextOffset);
    if (event === undefined || eventsLeft === 0) return false;
    nextOffset = event.offset + 1;
    eventsLeft -= 1;
    if (tap.meter.deliver(clock.nowMs(), event.chargeKey)) organization.balanceMicroUsd -= matchMicroUsd;
    writeRecord(`id: ${toEventId(event.offset)}\n${sseFrame('update', event.data)}`);
    return true;
  };
  const canSend = () =>
    pipe.takesRecords() && tap.status === 'active' && pipe.backlogBytes() < backlogBytesMax;

  const connection: FirehoseConnection = {
    pipe,
    pump() {
      let isBehind = true;
      while (isBehind && canSend()) isBehind = deliverNext();
      if (eventsLeft === 0) end();
    },
  };
  pipe.onDrain(connection.pump);
  tap.connections.add(connection);
  pipe.write(sseFrame('connected', '{}'));
  if (organization.knobs.keepAlive === 'comments') pipe.write(': keep-alive\n\n');
  return connection;
}
