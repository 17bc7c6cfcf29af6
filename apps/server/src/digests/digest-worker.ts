import type { Logger } from '../observability/logger.ts';
import { pause, type Worker } from '../runtime/worker.ts';
import type { IssueStore, LeasedIssue } from './issues.sql.ts';

const lookAgainMs = 2_000;
/** Issues that one node sends at once. */
const sendersMax = 16;

/** Sends issues that wait. Any number of nodes may do this: an issue is leased by one of them at a time. */
export function createDigestWorker(options: {
  readonly store: Pick<IssueStore, 'leaseDue' | 'release'>;
  readonly send: (issue: LeasedIssue) => Promise<void>;
  readonly log: Logger;
}): Worker {
  const { store, log } = options;
  const send = async (issue: LeasedIssue): Promise<void> => {
    try {
      await options.send(issue);
    } catch (error) {
      log.warn(
        { err: error, digestId: issue.digestId },
        'an issue of a digest could not be sent or recorded',
      );
      // Otherwise the lease runs out by itself.
      await store.release(issue).catch(() => undefined);
    }
  };
  return {
    name: 'digests',
    async run(signal) {
      const sending = new Set<Promise<void>>();
      try {
        while (!signal.aborted) {
          const max = sendersMax - sending.size;
          const due = max > 0 ? await store.leaseDue(max) : [];
          for (const issue of due) {
            const done = send(issue).finally(() => sending.delete(done));
            sending.add(done);
          }
          await pause(lookAgainMs, signal);
        }
      } finally {
        await Promise.all(sending);
      }
    },
  };
}
