import type { Nats } from '../engines/nats.ts';
import { eventsStream, matchConsumer } from './events-stream.ts';

export interface LogSpaceUse {
  readonly removed: number;
  readonly bytes: number;
  readonly bytesMax: number;
  /** Unmatched events. */
  readonly waiting: number;
  /** Copies of the log, other than the leader's, that are offline or outdated. */
  readonly copiesBehind: number;
}

/** Above this share of the log's size, matched events are removed; below it they stay for three days. */
const removeFromShare = 0.5;

/** Up to `lastChecked`, no event was skipped. Later ones may have to be fetched again. */
export function createLogSpace({ manager }: Nats, lastChecked: () => Promise<number>) {
  const { streams, consumers } = manager;
  return {
    /** Removes matched events if the log is half full, but never the last one of a source. */
    async makeRoom(): Promise<LogSpaceUse> {
      const { state, config, cluster } = await streams.info(eventsStream, { subjects_filter: '>' });
      const consumer = await consumers.info(eventsStream, matchConsumer);
      const use = {
        bytes: state.bytes,
        bytesMax: config.max_bytes,
        waiting: consumer.num_pending + consumer.num_ack_pending,
        copiesBehind: (cluster?.replicas ?? []).filter(({ current }) => !current).length,
      };
      if (state.bytes < config.max_bytes * removeFromShare) return { removed: 0, ...use };
      const done = Math.min(consumer.ack_floor.stream_seq, await lastChecked());
      let removed = 0;
      for (const subject of Object.keys(state.subjects ?? {})) {
        // The last message of a source decides where to resume it.
        const last = await streams.getMessage(eventsStream, { last_by_subj: subject });
        const before = Math.min(done + 1, last?.seq ?? 0);
        if (before <= state.first_seq) continue;
        removed += (await streams.purge(eventsStream, { filter: subject, seq: before })).purged;
      }
      return { removed, ...use };
    },
  };
}
