import type { Events } from '../observability/events.ts';
import type { Bells } from '../runtime/bell.ts';
import { pause } from '../runtime/pause.ts';
import type { Worker } from '../runtime/worker.ts';

/** Longer than a creation may take, so that nobody is still waiting for it. */
const abandonedAfterMs = 25_000;
const lookEveryMs = 5_000;

export interface AbandonedRules {
  abandonOlderThan(ms: number): Promise<number>;
}

/** Undoes creations whose process died before it answered: nobody was told of them. */
export function createUndoAbandonedWorker(options: {
  store: AbandonedRules;
  bells: Bells;
  events: Events;
}): Worker {
  return {
    name: 'undo-abandoned',
    async run(signal) {
      while (!signal.aborted) {
        const undone = await options.store.abandonOlderThan(abandonedAfterMs);
        options.events.abandonedCreationsUndone(undone);
        if (undone > 0) options.bells.ring('slots');
        await pause(lookEveryMs, signal);
      }
    },
  };
}
