import { createLeasedWorker, type LeasedWorkerOptions } from '../runtime/leased-worker.ts';
import { pause } from '../runtime/pause.ts';
import type { Worker } from '../runtime/worker.ts';
import { type CheckLogOptions, createCheckLog } from './check-log.ts';

const everyMs = 1_000;

export interface CheckLogWorkerOptions extends Omit<CheckLogOptions, 'log'>, LeasedWorkerOptions {
  readonly checkedLog: CheckLogOptions['log'];
}

/** One in the installation; a second one would find the same holes and store them once. */
export function createCheckLogWorker(options: CheckLogWorkerOptions): Worker {
  return createLeasedWorker({ name: 'check-log' }, options, async (_lease, held) => {
    const check = createCheckLog({ ...options, log: options.checkedLog });
    while (!held.aborted) {
      await check();
      await pause(everyMs, held);
    }
  });
}
