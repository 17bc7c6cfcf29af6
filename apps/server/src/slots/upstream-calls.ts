import type { Sql } from '../engines/database.ts';
import { type Lease, writeFenced } from '../engines/leases.ts';
import type { CallLimit } from '../upstream/call-budget.ts';

/**
 * Uses only the database's clock, so the clocks of nodes need not agree. `accounts` are charged with the call, one per slot that it
 * registers. Throws LeaseLost without the lease.
 */
export async function recordCall(
  sql: Sql,
  lease: Lease,
  { sourceId, limit, accounts = [] }: { sourceId: string; limit: CallLimit; accounts?: readonly string[] },
): Promise<void> {
  await writeFenced(sql, lease, {
    text: `, forgotten as (
       delete from upstream_calls using held
       where source_id = $4 and bucket = $5 and called_at < clock_timestamp() - $6 * interval '1 ms')
     insert into upstream_calls (source_id, bucket, accounts) select $4, $5, $7::text[] from held`,
    values: [sourceId, limit.bucket, limit.windowMs, accounts],
  });
}

/** Oldest first. */
export async function callsMade(
  sql: Sql,
  sourceId: string,
): Promise<Array<{ bucket: string; agoMs: number }>> {
  const rows = await sql.many<{ bucket: string; ago_ms: number }>(
    `select bucket, (extract(epoch from clock_timestamp() - called_at) * 1000)::float8 as ago_ms
     from upstream_calls where source_id = $1 order by called_at`,
    [sourceId],
  );
  return rows.map((row) => ({ bucket: row.bucket, agoMs: row.ago_ms }));
}
