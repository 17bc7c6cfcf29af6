import type { Events } from '../observability/events.ts';
import type { Bells } from '../runtime/bell.ts';
import { pause } from '../runtime/pause.ts';
import type { Worker } from '../runtime/worker.ts';

/** Longer than a change may take, so that nobody is still waiting for it. */
const abandonedAfterMs = 25_000;
const lookEveryMs = 1_000;

export interface RuleUpkeep {
  /** Pauses rules whose time is over; returns how many. */
  pauseExpired(): Promise<number>;
  undoChangesOlderThan(ms: number): Promise<number>;
}

/** Pauses rules that have expired, and undoes changes whose process died before it answered. */
export function createRuleUpkeepWorker(options: { store: RuleUpkeep; bells: Bells; events: Events }): Worker {
  const { store, bells, events } = options;
  return {
    name: 'rule-upkeep',
    async run(signal) {
      while (!signal.aborted) {
        const expired = await store.pauseExpired();
        const undone = await store.undoChangesOlderThan(abandonedAfterMs);
        events.rulesExpired(expired);
        events.abandonedChangesUndone(undone);
        if (expired + undone > 0) bells.ring('slots');
        await pause(lookEveryMs, signal);
      }
    },
  };
}
