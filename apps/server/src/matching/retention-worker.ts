import type { Events } from '../observability/events.ts';
import type { Logger } from '../observability/logger.ts';
import { type LeaseStore, runUnderLease } from '../runtime/lease.ts';
import { pause } from '../runtime/pause.ts';
import type { Worker } from '../runtime/worker.ts';

const everyMs = 3_600_000;

export interface Retention {
  /** Removes the days that are older than what is kept, the oldest first. */
  removeExpired(removed: (partition: string) => void): Promise<void>;
}

export interface RetentionWorkerOptions {
  readonly retention: Retention;
  readonly leases: LeaseStore;
  readonly node: string;
  readonly leaseTtlMs: number;
  readonly events: Events;
  readonly log: Logger;
}

/** One in the installation: two that detach the same partition would be in each other's way. */
export function createRetentionWorker(options: RetentionWorkerOptions): Worker {
  const { retention, leases, node, leaseTtlMs, events, log } = options;
  const lease = { store: leases, name: 'retention', holder: node, ttlMs: leaseTtlMs, log };
  return {
    name: 'retention',
    run: (signal) =>
      runUnderLease(lease, signal, async (_lease, held) => {
        while (!held.aborted) {
          await retention.removeExpired((table) => events.dayRemoved({ table }));
          await pause(everyMs, held);
        }
      }),
  };
}
