import { pause } from '../runtime/pause.ts';
import type { Worker } from '../runtime/worker.ts';

const everyMs = 60_000;

export interface OldClaims {
  /** Removes some Idempotency-Keys that are older than 24 hours; returns how many. */
  forgetSome(): Promise<number>;
}

export function createForgetWorker(store: OldClaims): Worker {
  return {
    name: 'forget-idempotency-keys',
    async run(signal) {
      while (!signal.aborted) {
        if ((await store.forgetSome()) === 0) await pause(everyMs, signal);
      }
    },
  };
}
