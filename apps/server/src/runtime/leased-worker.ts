import type { Logger } from '../observability/logger.ts';
import { type Lease, type LeaseStore, runUnderLease } from './lease.ts';
import type { Worker } from './worker.ts';

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
