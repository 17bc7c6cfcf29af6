import type { Logger } from '../observability/logger.ts';
import { DatabaseUnreachable } from '../runtime/failure.ts';
import { pause, type Worker } from '../runtime/worker.ts';
import type { ArchiveStore, LeasedArchive } from './archive-store.sql.ts';

const pollIntervalMs = 2_000;
/** Objects that one node writes at once. Each is in memory as a whole. */
const writersMax = 4;

/** Writes archives that are due. Any number of nodes may do this, because each archive is leased by one node at a time. */
export function createArchiveWorker(options: {
  readonly store: Pick<ArchiveStore, 'leaseDue' | 'release'>;
  readonly write: (leased: LeasedArchive) => Promise<void>;
  readonly log: Logger;
}): Worker {
  const { store, log } = options;
  const write = async (leased: LeasedArchive): Promise<void> => {
    try {
      await options.write(leased);
    } catch (error) {
      if (!(error instanceof DatabaseUnreachable))
        log.warn({ err: error, archiveId: leased.id }, 'an archive could not be written or recorded');
      // If this fails, the lease expires.
      await store.release(leased).catch(() => undefined);
    }
  };
  return {
    name: 'archives',
    async run(signal) {
      while (!signal.aborted) {
        const due = await store.leaseDue(writersMax);
        await Promise.all(due.map(write));
        if (due.length === 0) await pause(pollIntervalMs, signal);
      }
    },
  };
}
