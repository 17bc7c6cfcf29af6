import type { Logger } from '../observability/logger.ts';
import { every, pause, type Worker } from '../runtime/worker.ts';
import type { Database, Sql, Transactions } from './database.ts';

/**
 * A lease is a row with an epoch that grows with every new holder. The holder renews it after every third of its time to live, and
 * stops by its own monotonic clock before it can expire. Every protected write names the holder and the epoch, so a holder that was
 * suspended and wakes up late changes nothing.
 *
 * An epoch is at least the time in milliseconds. After a database was set back by a restore, or by a failover to a standby that was
 * behind, the next epoch is therefore new.
 */
export interface Lease {
  readonly name: string;
  readonly holder: string;
  readonly epoch: string;
}

const clockEpoch = '(extract(epoch from clock_timestamp()) * 1000)::bigint';
/** SQL: whether the row is still this lease. */
const isHeld = 'name = $1 and holder = $2 and epoch = $3';
const keyOf = ({ name, holder, epoch }: Lease) => [name, holder, epoch];

export class LeaseLost extends Error {
  constructor(lease: Lease) {
    super(`lease ${lease.name} (epoch ${lease.epoch}) is lost`);
    this.name = 'LeaseLost';
  }
}

export function createLeaseStore(database: Database) {
  return {
    /** Null while another node holds it. */
    async acquire(name: string, holder: string, ttlMs: number): Promise<Lease | null> {
      const row = await database.one<{ epoch: number }>(
        `insert into leases (name, holder, epoch, expires_at)
         values ($1, $2, ${clockEpoch}, now() + $3 * interval '1 ms')
         on conflict (name) do update
           set holder = excluded.holder, epoch = greatest(leases.epoch + 1, excluded.epoch),
             expires_at = excluded.expires_at
           where leases.expires_at < now()
         returning epoch`,
        [name, holder, ttlMs],
      );
      return row && { name, holder, epoch: String(row.epoch) };
    },
    /** False if the lease has another holder. */
    async renew(lease: Lease, ttlMs: number): Promise<boolean> {
      const renewed = await database.prepared(
        // On a slow database renewals can overlap. A late one must not shorten the lease.
        `update leases set expires_at = greatest(expires_at, now() + $4 * interval '1 ms') where ${isHeld} returning 1`,
        [...keyOf(lease), ttlMs],
      );
      return renewed.length === 1;
    },
    /** Ends the epoch too. Otherwise a late renewal would take the lease again, and no node would work under it. */
    async release(lease: Lease): Promise<void> {
      await database.run(
        `update leases set expires_at = now() - interval '1 second', epoch = epoch + 1 where ${isHeld}`,
        keyOf(lease),
      );
    },
  };
}

export type LeaseStore = ReturnType<typeof createLeaseStore>;

/** Runs a transaction. Unless the lease is still held, it changes nothing and throws LeaseLost. */
export function fenced<Result>(
  database: Transactions,
  lease: Lease,
  work: (sql: Sql) => Promise<Result>,
): Promise<Result> {
  return database.transaction(async (sql) => {
    await assertLease(sql, lease);
    return await work(sql);
  });
}

/** The first statement of a protected write: the share lock keeps the epoch until the commit. */
export async function assertLease(sql: Sql, lease: Lease): Promise<void> {
  const row = await sql.one(`select 1 from leases where ${isHeld} for share`, keyOf(lease));
  if (!row) throw new LeaseLost(lease);
}

/**
 * A protected write of one statement, which inserts or returns something. It selects from `held`, which has a row while the lease is
 * held, and its own parameters begin with $4.
 */
export async function writeFenced(
  sql: Pick<Sql, 'prepared'>,
  lease: Lease,
  { text, values }: { text: string; values: readonly unknown[] },
): Promise<void> {
  const written = await sql.prepared(
    `with held as (select 1 from leases where ${isHeld} for share)${text} returning 1`,
    [...keyOf(lease), ...values],
  );
  if (written.length === 0) throw new LeaseLost(lease);
}

/** The pause between two attempts to take a lease. Until a released lease is taken, its work waits. */
const pollIntervalMs = 500;

export interface LeaseOptions {
  readonly store: LeaseStore;
  readonly name: string;
  readonly holder: string;
  readonly ttlMs: number;
  /**
   * If set, the work continues while the database is down: no other node can take the lease then either. Only for work that is
   * harmless when done twice. Otherwise the holder stops before its lease can expire.
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
      await pause(Math.min(ttlMs / 5, pollIntervalMs), signal);
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
  const lose = () => {
    // Not when it is released: the work has ended.
    if (!both.aborted) log.warn({ lease: lease.name, epoch: lease.epoch }, 'lease lost');
    held.abort();
  };
  const renewing = keepRenewing(options, lease, both).then(lose);
  try {
    await work(lease, both);
  } catch (error) {
    if (!(error instanceof LeaseLost)) throw error;
    lose();
  } finally {
    held.abort();
    await renewing;
    await store.release(lease).catch(() => undefined);
  }
}

/** Returns when the signal is aborted, or when the node can no longer be sure to hold the lease. */
async function keepRenewing(
  { store, ttlMs, outlivesStore = false }: LeaseOptions,
  lease: Lease,
  signal: AbortSignal,
): Promise<void> {
  let provenAt = performance.now();
  while (!signal.aborted) {
    await pause(ttlMs / 3, signal);
    if (signal.aborted) return;
    const requestedAt = performance.now();
    // A database that hangs is treated like an unreachable one.
    const renewed = await Promise.race([
      store.renew(lease, ttlMs).catch(() => null),
      pause(ttlMs / 3, signal).then(() => null),
    ]);
    if (renewed === false) return;
    if (renewed === true) provenAt = requestedAt;
    if (!outlivesStore && performance.now() - provenAt > ttlMs * 0.6) return;
  }
}

/** What a worker needs that runs on one node of the installation at a time. */
export interface LeasedWorkerOptions {
  readonly leases: LeaseStore;
  readonly node: string;
  readonly leaseTtlMs: number;
  readonly log: Logger;
}

/** A worker that runs only while it holds the lease of its name. */
export function createLeasedWorker(
  { name, outlivesStore = false }: { name: string; outlivesStore?: boolean },
  { leases, node, leaseTtlMs, log }: LeasedWorkerOptions,
  work: (lease: Lease, held: AbortSignal) => Promise<void>,
): Worker {
  const lease = { store: leases, name, holder: node, ttlMs: leaseTtlMs, outlivesStore, log };
  return { name, run: (signal) => runUnderLease(lease, signal, work) };
}

/** Periodic work on one node of the installation at a time: the holder of the lease of this name. */
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
