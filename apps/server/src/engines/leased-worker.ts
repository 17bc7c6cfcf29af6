import type { Logger } from '../observability/logger.ts';
import { every, type Worker } from '../runtime/worker.ts';
import { type Lease, type LeaseStore, runUnderLease } from './lease.ts';

/** What every worker needs of which there is one in the whole installation. */
export interface LeasedWorkerOptions {
  readonly leases: LeaseStore;
  readonly node: string;
  readonly leaseTtlMs: number;
  readonly log: Logger;
}

/** A worker that does its work only while it holds the lease of its name. */
export function createLeasedWorker(
  { name, outlivesStore = false }: { name: string; outlivesStore?: boolean },
  { leases, node, leaseTtlMs, log }: LeasedWorkerOptions,
  work: (lease: Lease, held: AbortSignal) => Promise<void>,
): Worker {
  const lease = { store: leases, name, holder: node, ttlMs: leaseTtlMs, outlivesStore, log };
  return { name, run: (signal) => runUnderLease(lease, signal, work) };
}

/** Periodic work on one node of the installation at a time: the one that holds the lease of this name. */
export function everyUnderLease(
  leases: LeasedWorkerOptions,
  name: string,
  everyMs: number,
  step: (lease: Lease, signal: AbortSignal) => Promise<void>,
): Worker {
  return createLeasedWorker({ name }, leases, (lease, held) =>
    every(name, everyMs, (signal) => step(lease, signal)).run(held),
  );
}
