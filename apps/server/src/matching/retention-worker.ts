import type { Events } from '../observability/events.ts';
import { createLeasedWorker, type LeasedWorkerOptions } from '../runtime/leased-worker.ts';
import { pause } from '../runtime/pause.ts';
import type { Worker } from '../runtime/worker.ts';

const everyMs = 3_600_000;

export interface Retention {
  /** Removes the days that are older than what is kept, the oldest first. */
  removeExpired(removed: (partition: string) => void): Promise<void>;
}

export interface RetentionWorkerOptions extends LeasedWorkerOptions {
  readonly retention: Retention;
  readonly events: Events;
}

/** One in the installation: two that detach the same partition would be in each other's way. */
export function createRetentionWorker(options: RetentionWorkerOptions): Worker {
  const { retention, events } = options;
  return createLeasedWorker({ name: 'retention' }, options, async (_lease, held) => {
    while (!held.aborted) {
      await retention.removeExpired((table) => events.dayRemoved({ table }));
      await pause(everyMs, held);
    }
  });
}
