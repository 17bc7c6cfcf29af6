import type { Events } from '../observability/events.ts';
import { pause } from '../runtime/pause.ts';
import type { Worker } from '../runtime/worker.ts';

const everyMs = 10_000;

export interface DeletedRules {
  /** Removes some matches of deleted rules, and tombstones that are no longer needed; returns how many matches. */
  purgeSome(): Promise<number>;
}

/** Matches of deleted rules are hidden at once and removed here, a little at a time. */
export function createPurgeWorker({ store, events }: { store: DeletedRules; events: Events }): Worker {
  return {
    name: 'purge',
    async run(signal) {
      while (!signal.aborted) {
        const purged = await store.purgeSome();
        events.matchesPurged(purged);
        if (purged === 0) await pause(everyMs, signal);
      }
    },
  };
}
