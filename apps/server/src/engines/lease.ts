import type { Logger } from '../observability/logger.ts';
import { pause } from '../runtime/worker.ts';

/**
 * A lease is a row with an epoch that grows with every new holder. The holder renews it every third of its
 * time to live and stops itself on its own monotonic clock before it can expire; whatever it writes names the
 * epoch, so a holder that was paused and wakes up late changes nothing.
 */
export interface Lease {
  readonly name: string;
  readonly epoch: string;
}

export interface LeaseStore {
  acquire(name: string, holder: string, ttlMs: number): Promise<Lease | null>;
  renew(lease: Lease, ttlMs: number): Promise<boolean>;
  release(lease: Lease): Promise<void>;
}

/** A lease that was given back is taken at once: until then nobody listens. */
const lookAgainMs = 500;

export class LeaseLost extends Error {
  constructor(lease: Lease) {
    super(`lease ${lease.name} (epoch ${lease.epoch}) is lost`);
    this.name = 'LeaseLost';
  }
}

export interface LeaseOptions {
  readonly store: LeaseStore;
  readonly name: string;
  readonly holder: string;
  readonly ttlMs: number;
  /**
   * Go on while the store cannot be asked: nobody else can take the lease then either. For work that is
   * harmless when done twice; without it the holder stops before its time is over.
   */
  readonly outlivesStore?: boolean;
  readonly log: Logger;
}

/** Waits for the lease, runs `work` while it is held, and starts over when it was lost. */
export async function runUnderLease(
  options: LeaseOptions,
  signal: AbortSignal,
  work: (lease: Lease, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const { store, name, holder, ttlMs, log } = options;
  while (!signal.aborted) {
    const lease = await store.acquire(name, holder, ttlMs);
    if (!lease) {
      await pause(Math.min(ttlMs / 5, lookAgainMs), signal);
      continue;
    }
    log.info({ lease: name, epoch: lease.epoch }, 'lease acquired');
    await holdWhile(options, lease, signal, work);
  }
}

async function holdWhile(
  options: LeaseOptions,
  lease: Lease,
  signal: AbortSignal,
  work: (lease: Lease, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const { store, log } = options;
  const held = new AbortController();
  const both = AbortSignal.any([signal, held.signal]);
  const renewing = keepRenewing(options, lease, both).then(() => {
    if (!signal.aborted) log.warn({ lease: lease.name, epoch: lease.epoch }, 'lease lost');
    held.abort();
  });
  try {
    await work(lease, both);
  } catch (error) {
    if (!(error instanceof LeaseLost)) throw error;
  } finally {
    held.abort();
    await renewing;
    await store.release(lease).catch(() => undefined);
  }
}

/** Returns when the signal is aborted or the lease can no longer be proven to be ours. */
async function keepRenewing(
  { store, ttlMs, outlivesStore = false }: LeaseOptions,
  lease: Lease,
  signal: AbortSignal,
): Promise<void> {
  let provenAt = performance.now();
  while (!signal.aborted) {
    await pause(ttlMs / 3, signal);
    if (signal.aborted) return;
    const askedAt = performance.now();
    // A store that does not answer is like one that cannot be asked.
    const renewed = await Promise.race([
      store.renew(lease, ttlMs).catch(() => null),
      pause(ttlMs / 3, signal).then(() => null),
    ]);
    if (renewed === false) return;
    if (renewed === true) provenAt = askedAt;
    if (!outlivesStore && performance.now() - provenAt > ttlMs * 0.6) return;
  }
}
