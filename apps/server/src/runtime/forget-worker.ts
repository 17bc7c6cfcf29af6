import { pause } from './pause.ts';
import type { Worker } from './worker.ts';

const everyMs = 60_000;

/** Rows that are too old to be of use to anybody. */
export interface OldRows {
  /** Removes some of them; returns how many. */
  forgetSome(): Promise<number>;
}

export function createForgetWorker(name: string, store: OldRows): Worker {
  return {
    name,
    async run(signal) {
      while (!signal.aborted) {
        if ((await store.forgetSome()) === 0) await pause(everyMs, signal);
      }
    },
  };
}
