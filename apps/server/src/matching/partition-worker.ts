import { pause } from '../runtime/pause.ts';
import type { Worker } from '../runtime/worker.ts';

const everyMs = 3_600_000;

export interface Partitions {
  ensureAhead(): Promise<void>;
}

/** Keeps the partitions of the coming days in place. */
export function createPartitionWorker(partitions: Partitions): Worker {
  return {
    name: 'partitions',
    async run(signal) {
      while (!signal.aborted) {
        await partitions.ensureAhead();
        await pause(everyMs, signal);
      }
    },
  };
}
