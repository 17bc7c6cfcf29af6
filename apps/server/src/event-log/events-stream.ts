import {
  AckPolicy,
  DiscardPolicy,
  JetStreamApiCodes,
  JetStreamApiError,
  RetentionPolicy,
  StorageType,
  type StreamInfo,
} from '@nats-io/jetstream';
import { nanos } from '@nats-io/transport-node';
import type { Nats } from '../engines/nats.ts';

export const eventsStream = 'EVENTS';
export const matchConsumer = 'match';
/** Messages that sixteen match workers can prefetch. */
export const eventsUnacknowledgedMax = 4_000;

const hourMs = 3_600_000;

export interface EventsStreamOptions {
  readonly replicas: number;
  readonly bytesMax: number;
  /** The log redelivers an event that was neither acknowledged nor reported as in progress for this long. */
  readonly ackWaitMs?: number;
}

/** Three copies survive the loss of a server. A single server cannot have more than one. */
export const copiesOn = ({ isCluster }: Nats) => (isCluster ? 3 : 1);

/** Error codes for "more than `max_file_store` allows", on one node and in a cluster. */
const noSpaceCodes: readonly unknown[] = [10_047, 10_005];

/** Null if NATS answers that it does not exist. */
export async function findEventsStream({ manager }: Nats): Promise<StreamInfo | null> {
  return await manager.streams.info(eventsStream).catch((error: unknown) => {
    if (error instanceof JetStreamApiError && error.code === JetStreamApiCodes.StreamNotFound) return null;
    throw error;
  });
}

/**
 * Creates or updates the stream and its consumer. A full log refuses new events (`discard new`) instead of dropping
 * old ones. Only matched events are removed to make room (log-space.ts).
 */
export async function ensureEventsStream(
  nats: Nats,
  { replicas, bytesMax, ackWaitMs = 30_000 }: EventsStreamOptions,
): Promise<void> {
  const { streams, consumers } = nats.manager;
  const settings = {
    subjects: ['events.>'],
    num_replicas: replicas,
    max_bytes: bytesMax,
    // Three times as long as Firehose can replay.
    max_age: nanos(72 * hourMs),
    max_msg_size: 512 * 1024,
    duplicate_window: nanos(hourMs / 6),
    discard: DiscardPolicy.New,
  };
  if (await findEventsStream(nats)) {
    await streams.update(eventsStream, settings).catch(explainSpace(bytesMax));
  } else {
    await streams
      .add({
        name: eventsStream,
        ...settings,
        storage: StorageType.File,
        retention: RetentionPolicy.Limits,
        deny_delete: true,
        allow_direct: false,
      })
      .catch(explainSpace(bytesMax));
  }
  await consumers.add(eventsStream, {
    durable_name: matchConsumer,
    ack_policy: AckPolicy.Explicit,
    ack_wait: nanos(ackWaitMs),
    max_ack_pending: eventsUnacknowledgedMax,
    max_deliver: -1,
  });
}

/**
 * The log must fit into the server's storage limit. A log at its own limit refuses events and recovers; a full disk
 * stops JetStream on every node.
 */
function explainSpace(bytesMax: number): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof JetStreamApiError) || !noSpaceCodes.includes(error.code)) throw error;
    throw new Error(
      `EARSHOT_EVENTS_BYTES_MAX is ${bytesMax} bytes, more than max_file_store of the NATS servers allows. Lower it, or raise max_file_store.`,
      { cause: error },
    );
  };
}

export function subjectOf(sourceId: string): string {
  return `events.${sourceId.replace(':', '.')}`;
}
