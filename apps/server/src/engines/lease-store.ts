import type { Database, Sql } from './database.ts';
import { type Lease, LeaseLost, type LeaseStore } from './lease.ts';

export function createLeaseStore(database: Database): LeaseStore {
  return {
    async acquire(name, holder, ttlMs) {
      const row = await database.one<{ epoch: number }>(
        `insert into leases (name, holder, epoch, expires_at)
         values ($1, $2, 1, now() + $3 * interval '1 ms')
         on conflict (name) do update
           set holder = excluded.holder, epoch = leases.epoch + 1, expires_at = excluded.expires_at
           where leases.expires_at < now()
         returning epoch`,
        [name, holder, ttlMs],
      );
      return row && { name, epoch: String(row.epoch) };
    },
    async renew(lease, ttlMs) {
      const renewed = await database.run(
        `update leases set expires_at = now() + $3 * interval '1 ms' where name = $1 and epoch = $2`,
        [lease.name, lease.epoch, ttlMs],
      );
      return renewed === 1;
    },
    async release(lease) {
      await database.run(
        `update leases set expires_at = now() - interval '1 second' where name = $1 and epoch = $2`,
        [lease.name, lease.epoch],
      );
    },
  };
}

/** First statement of a protected write: the share lock keeps the epoch until the commit. */
export async function assertLease(sql: Sql, lease: Lease): Promise<void> {
  const row = await sql.one('select 1 from leases where name = $1 and epoch = $2 for share', [
    lease.name,
    lease.epoch,
  ]);
  if (!row) throw new LeaseLost(lease);
}
