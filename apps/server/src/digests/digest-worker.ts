import type { Logger } from '../observability/logger.ts';
import { DatabaseUnreachable } from '../runtime/failure.ts';
import { pause, type Worker } from '../runtime/worker.ts';
import type { DigestMessageStore, LeasedDigestMessage } from './digest-messages.sql.ts';

const pollIntervalMs = 2_000;
/** Digest messages that one node sends at once. */
const sendersMax = 16;

/**
 * Sends waiting digest messages. Any number of nodes may do this, because each message is leased by one node at a
 * time.
 */
export function createDigestWorker(options: {
  readonly store: Pick<DigestMessageStore, 'leaseDue' | 'release'>;
  readonly send: (leased: LeasedDigestMessage) => Promise<void>;
  readonly log: Logger;
}): Worker {
  const { store, log } = options;
  const send = async (leased: LeasedDigestMessage): Promise<void> => {
    try {
      await options.send(leased);
    } catch (error) {
      if (!(error instanceof DatabaseUnreachable))
        log.warn({ err: error, digestId: leased.digestId }, 'a digest message could not be sent or recorded');
      // If this fails, the lease expires.
      await store.release(leased).catch(() => undefined);
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
          for (const leased of due) {
            const done = send(leased).finally(() => sending.delete(done));
            sending.add(done);
          }
          await pause(pollIntervalMs, signal);
        }
      } finally {
        await Promise.all(sending);
      }
    },
  };
}
