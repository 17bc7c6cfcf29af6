import type { Sql } from '../engines/database.ts';
import type { CallLimit } from '../upstream/call-budget.ts';

/**
 * Only the database's clock counts, so the clocks of nodes need not agree. `accounts` are those for whom the call is made:
 * of each slot, whoever waits for it.
 */
export async function recordCall(
  sql: Sql,
  sourceId: string,
  limit: CallLimit,
  accounts: readonly string[] = [],
): Promise<void> {
  await sql.run(
    `delete from upstream_calls
     where source_id = $1 and bucket = $2 and called_at < clock_timestamp() - $3 * interval '1 ms'`,
    [sourceId, limit.bucket, limit.windowMs],
  );
  await sql.run('insert into upstream_calls (source_id, bucket, accounts) values ($1, $2, $3)', [
    sourceId,
    limit.bucket,
    accounts,
  ]);
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
