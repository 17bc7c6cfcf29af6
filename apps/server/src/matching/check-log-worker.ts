import type { Logger } from '../observability/logger.ts';
import { type LeaseStore, runUnderLease } from '../runtime/lease.ts';
import { pause } from '../runtime/pause.ts';
import type { Worker } from '../runtime/worker.ts';
import { type CheckLogOptions, createCheckLog } from './check-log.ts';

const everyMs = 1_000;

export interface CheckLogWorkerOptions extends Omit<CheckLogOptions, 'log'> {
  readonly checkedLog: CheckLogOptions['log'];
  readonly leases: LeaseStore;
  readonly node: string;
  readonly leaseTtlMs: number;
  readonly log: Logger;
}

/** One in the installation; a second one would find the same holes and store them once. */
export function createCheckLogWorker(options: CheckLogWorkerOptions): Worker {
  const { checkedLog, leases, node, leaseTtlMs, log } = options;
  const lease = { store: leases, name: 'check-log', holder: node, ttlMs: leaseTtlMs, log };
  return {
    name: 'check-log',
    run: (signal) =>
      runUnderLease(lease, signal, async (_lease, held) => {
        const check = createCheckLog({ ...options, log: checkedLog });
        while (!held.aborted) {
          await check();
          await pause(everyMs, held);
        }
      }),
  };
}
