import type { Bells } from '../engines/bells.ts';
import type { Logger } from '../observability/logger.ts';
import { pause, type Worker } from '../runtime/worker.ts';
import type { createDeliverBatch } from './deliver-batch.ts';
import type { Claim, DeliveryStore } from './delivery-store.ts';

const lookAgainMs = 1_000;
const looksApartMs = 10;
/** Messages under way at once on one node, each to another endpoint; those that are late do not count. */
const sendersMax = 64;
/**
 * Late ones leave their place to others, as long as there are no more than these: so endpoints that died together
 * cost everybody else two seconds, not the fifteen that an attempt may take.
 */
const lateAfterMs = 2_000;
const lateMax = 192;
/** Endpoints that failed or were slow at their last attempt get only these. */
const troubledMax = 16;

export interface DeliverWorkerOptions {
  readonly store: Pick<DeliveryStore, 'claimDue' | 'release'>;
  readonly deliver: ReturnType<typeof createDeliverBatch>;
  readonly bells: Bells;
  readonly log: Logger;
  readonly nowMs: () => number;
  readonly lateAfterMs?: number;
}

/**
 * Claims endpoints that have something to send and gives each a sender of its own, so a slow one holds nobody but
 * itself. Any number of nodes may do this: an endpoint is claimed by one at a time. At the end it waits for what is
 * under way.
 */
export function createDeliverWorker(options: DeliverWorkerOptions): Worker {
  const { store, bells, nowMs } = options;
  return {
    name: 'deliver',
    async run(signal) {
      using bell = bells.listen('matches');
      await using senders = createSenders(options);
      while (!signal.aborted) {
        const lookedAt = performance.now();
        const done = senders.nextDone();
        let claimed = 0;
        for (const troubled of [false, true]) {
          const max = senders.free(troubled);
          if (max <= 0) continue;
          const claims = await store.claimDue({ nowMs: nowMs(), max, troubled });
          for (const claim of claims) senders.start(claim, troubled);
          claimed += claims.length;
        }
        // A look costs a query over all endpoints: most of the time is for other work.
        await pause(Math.max(looksApartMs, performance.now() - lookedAt), signal);
        if (claimed === 0) await bell.wait(lookAgainMs, AbortSignal.any([signal, done]));
      }
    },
  };
}

function createSenders({ store, deliver, log, ...options }: DeliverWorkerOptions) {
  type Sending = Set<Promise<void>>;
  const [calm, late, troubled]: [Sending, Sending, Sending] = [new Set(), new Set(), new Set()];
  let done = new AbortController();
  const run = async (claim: Claim): Promise<void> => {
    try {
      await deliver(claim);
    } catch (error) {
      log.warn({ err: error, webhookId: claim.webhookId }, 'a delivery could not be recorded');
      // Otherwise the claim runs out by itself.
      await store.release(claim).catch(() => undefined);
    }
  };
  return {
    free: (forTroubled: boolean) =>
      forTroubled
        ? Math.min(troubledMax, sendersMax - calm.size) - troubled.size
        : sendersMax - calm.size - troubled.size - Math.max(0, late.size - lateMax),
    start(claim: Claim, isTroubled: boolean) {
      const place = isTroubled ? troubled : calm;
      const sending = run(claim).finally(() => {
        clearTimeout(becomesLate);
        place.delete(sending);
        late.delete(sending);
        done.abort();
      });
      place.add(sending);
      const leavePlace = () => {
        calm.delete(sending);
        late.add(sending);
        done.abort();
      };
      const becomesLate = isTroubled ? undefined : setTimeout(leavePlace, options.lateAfterMs ?? lateAfterMs);
    },
    /** Aborted when a sender is done from now on. */
    nextDone(): AbortSignal {
      done = new AbortController();
      return done.signal;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([...calm, ...late, ...troubled]);
    },
  };
}
