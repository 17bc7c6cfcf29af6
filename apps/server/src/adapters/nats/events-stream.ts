import { AckPolicy, DiscardPolicy, RetentionPolicy, StorageType } from '@nats-io/jetstream';
import { nanos } from '@nats-io/transport-node';
import type { Nats } from './connection.ts';

export const eventsStream = 'EVENTS';
export const matchConsumer = 'match';

const hourMs = 3_600_000;

export interface EventsStreamOptions {
  readonly replicas: number;
  readonly bytesMax: number;
}

/**
 * Makes the stream and its consumer, or brings them to these settings. A full log refuses (`discard new`)
 * instead of forgetting; only what is matched already is ever removed to make room (see log-space.ts).
 */
export async function ensureEventsStream(
  nats: Nats,
  { replicas, bytesMax }: EventsStreamOptions,
): Promise<void> {
  const { streams, consumers } = nats.manager;
  const settings = {
    subjects: ['events.>'],
    num_replicas: replicas,
    max_bytes: bytesMax,
    // Three times what Firehose keeps for a replay.
    max_age: nanos(72 * hourMs),
    max_msg_size: 512 * 1024,
    duplicate_window: nanos(hourMs / 6),
    discard: DiscardPolicy.New,
  };
  const existing = await streams.info(eventsStream).catch(() => null);
  if (existing) {
    await streams.update(eventsStream, settings);
  } else {
    await streams.add({
      name: eventsStream,
      ...settings,
      storage: StorageType.File,
      retention: RetentionPolicy.Limits,
      deny_delete: true,
      allow_direct: false,
    });
  }
  await consumers.add(eventsStream, {
    durable_name: matchConsumer,
    ack_policy: AckPolicy.Explicit,
    ack_wait: nanos(30_000),
    max_ack_pending: 2_000,
    max_deliver: -1,
  });
}

export function subjectOf(sourceId: string): string {
  return `events.${sourceId.replace(':', '.')}`;
}
