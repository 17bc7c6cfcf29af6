import { pause } from '../runtime/pause.ts';
import type { Worker } from '../runtime/worker.ts';

const everyMs = 60_000;

export interface OldDeliveries {
  /** Removes some attempts that are too old to be listed; returns how many. */
  forgetSome(): Promise<number>;
}

export function createForgetDeliveriesWorker(store: OldDeliveries): Worker {
  return {
    name: 'forget-deliveries',
    async run(signal) {
      while (!signal.aborted) {
        if ((await store.forgetSome()) === 0) await pause(everyMs, signal);
      }
    },
  };
}
