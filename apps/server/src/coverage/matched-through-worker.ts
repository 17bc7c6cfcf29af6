import { awaitMatched, type MatchProgress } from '../matching/match-progress.ts';
import { pause } from '../runtime/pause.ts';
import type { Worker } from '../runtime/worker.ts';

const everyMs = 1_000;
const lookAgainMs = 100;

export interface MatchedThrough {
  /** The database's clock. */
  now(): Promise<Date>;
  record(through: Date): Promise<void>;
}

/**
 * Says until when everything that was heard has been matched. Without it, an answer while matching lags would call
 * itself complete, though what was heard still waits in the event log.
 */
export function createMatchedThroughWorker(options: {
  store: MatchedThrough;
  progress: MatchProgress;
}): Worker {
  const { store, progress } = options;
  return {
    name: 'matched-through',
    async run(signal) {
      while (!signal.aborted) {
        // The time first: what is logged after it does not count.
        const through = await store.now();
        await awaitMatched(progress, lookAgainMs, signal);
        if (signal.aborted) return;
        await store.record(through);
        await pause(everyMs, signal);
      }
    },
  };
}
