import { awaitMatched, type MatchProgress } from '../matching/match-progress.ts';
import type { Bells } from '../runtime/bell.ts';
import { pause } from '../runtime/pause.ts';
import type { Worker } from '../runtime/worker.ts';

const lookEveryMs = 500;

export interface OldSlot {
  readonly ruleId: string;
  readonly slotId: string;
}

export interface OldSlots {
  /** Slots that rules hold for an older version, and that have been kept long enough. */
  due(): Promise<OldSlot[]>;
  /** Leaves those of them that no newer version has taken up again; returns how many. */
  release(slots: readonly OldSlot[]): Promise<number>;
}

/**
 * After a change of value: gives up the old slot, once every event that was logged while it was needed has found
 * its rules. Matching that lags behind delays this, so it never costs a match.
 */
export function createReleaseOldSlotsWorker(options: {
  store: OldSlots;
  progress: MatchProgress;
  bells: Bells;
}): Worker {
  const { store, progress, bells } = options;
  return {
    name: 'release-old-slots',
    async run(signal) {
      while (!signal.aborted) {
        const due = await store.due();
        if (due.length > 0) {
          await awaitMatched(progress, lookEveryMs, signal);
          if (signal.aborted) return;
          if ((await store.release(due)) > 0) bells.ring('slots');
        }
        await pause(lookEveryMs, signal);
      }
    },
  };
}
