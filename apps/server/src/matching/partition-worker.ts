import type { Events } from '../observability/events.ts';
import { pause } from '../runtime/pause.ts';
import type { Worker } from '../runtime/worker.ts';

const everyMs = 3_600_000;

export interface Partitions {
  ensureAhead(): Promise<void>;
  /** Days from today for which there are partitions. */
  daysAhead(): Promise<number>;
}

/** Keeps the partitions of the coming days in place. */
export function createPartitionWorker({
  partitions,
  events,
}: {
  partitions: Partitions;
  events: Events;
}): Worker {
  return {
    name: 'partitions',
    async run(signal) {
      while (!signal.aborted) {
        // Told before as well, so that it sinks when none can be made.
        events.partitionsAhead(await partitions.daysAhead());
        await partitions.ensureAhead();
        events.partitionsAhead(await partitions.daysAhead());
        await pause(everyMs, signal);
      }
    },
  };
}
