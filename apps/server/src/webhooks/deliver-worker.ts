import type { Bells } from '../engines/bells.ts';
import type { Logger } from '../observability/logger.ts';
import { DatabaseUnreachable } from '../runtime/failure.ts';
import { pause, type Worker } from '../runtime/worker.ts';
import type { createDeliverBatch } from './deliver-batch.ts';
import type { DeliveryStore } from './delivery-store.sql.ts';
import type { LeasedWebhook } from './leased-webhook.ts';

const pollIntervalMs = 1_000;
const pollIntervalMsMin = 10;
/** The pause after a poll, as a multiple of the time that the poll took. */
const pollsApart = 4;
/** Messages that one node sends at once, each to another endpoint. Late ones do not count. */
const sendersMax = 64;
/**
 * A late message does not count, up to `lateMax` of them. So failing endpoints delay the others by 2 s, not by the 15
 * s that an attempt may take.
 */
const lateAfterMs = 2_000;
const lateMax = 192;
/**
 * Limit for all endpoints that failed or were slow at their last attempt. If they time out after 15 s, a node makes
 * about 480 attempts per minute. With more such endpoints, each waits longer than a minute.
 */
const troubledMax = 16;
const lateTroubledMax = 112;

export interface DeliverWorkerOptions {
  readonly store: Pick<DeliveryStore, 'leaseDue' | 'release'>;
  readonly deliver: ReturnType<typeof createDeliverBatch>;
  readonly bells: Bells;
  readonly log: Logger;
  readonly lateAfterMs?: number;
}

/**
 * Leases webhooks with something to send and sends to all at once, so that a slow endpoint delays only itself. Any
 * number of nodes may do this, because each webhook is leased by one node at a time. When stopped, it waits for
 * messages that are being sent.
 */
export function createDeliverWorker(options: DeliverWorkerOptions): Worker {
  const { store, bells } = options;
  return {
    name: 'deliver',
    async run(signal) {
      using bell = bells.listen('matches');
      await using senders = createSenders(options);
      while (!signal.aborted) {
        const polledAt = performance.now();
        const done = senders.nextDone();
        let started = 0;
        for (const troubled of [false, true]) {
          const max = senders.free(troubled);
          if (max <= 0) continue;
          const due = await store.leaseDue({ max, troubled });
          for (const leased of due) senders.start(leased, troubled);
          started += due.length;
        }
        // Each poll queries all webhooks. Pauses bound what that costs, however many there are.
        await pause(Math.max(pollIntervalMsMin, pollsApart * (performance.now() - polledAt)), signal);
        if (started === 0) await bell.wait(pollIntervalMs, AbortSignal.any([signal, done]));
      }
    },
  };
}

function createSenders({ store, deliver, log, ...options }: DeliverWorkerOptions) {
  const createLane = () => ({ sending: new Set<Promise<void>>(), late: new Set<Promise<void>>() });
  const [calm, troubled] = [createLane(), createLane()];
  let done = new AbortController();
  const run = async (leased: LeasedWebhook): Promise<void> => {
    try {
      await deliver(leased);
    } catch (error) {
      if (!(error instanceof DatabaseUnreachable))
        log.warn({ err: error, webhookId: leased.webhookId }, 'a delivery could not be recorded');
      // If this fails, the lease expires.
      await store.release(leased).catch(() => undefined);
    }
  };
  return {
    free: (forTroubled: boolean) =>
      forTroubled
        ? Math.min(troubledMax, sendersMax - calm.sending.size) -
          troubled.sending.size -
          Math.max(0, troubled.late.size - lateTroubledMax)
        : sendersMax - calm.sending.size - troubled.sending.size - Math.max(0, calm.late.size - lateMax),
    start(leased: LeasedWebhook, isTroubled: boolean) {
      const lane = isTroubled ? troubled : calm;
      const sending = run(leased).finally(() => {
        clearTimeout(lateTimer);
        lane.sending.delete(sending);
        lane.late.delete(sending);
        done.abort();
      });
      lane.sending.add(sending);
      const lateTimer = setTimeout(() => {
        lane.sending.delete(sending);
        lane.late.add(sending);
        done.abort();
      }, options.lateAfterMs ?? lateAfterMs);
    },
    /** Aborted when the next message is finished. */
    nextDone(): AbortSignal {
      done = new AbortController();
      return done.signal;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([...calm.sending, ...calm.late, ...troubled.sending, ...troubled.late]);
    },
  };
}
