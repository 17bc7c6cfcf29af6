import type { Database, Sql } from '../engines/database.ts';
import type { SourceStore } from '../ingest/source-store.ts';

/** After a crash the ledger entry stays open; the source counts as live for this long after the last proof. */
const provenForSeconds = 10;

/** The intervals in which a source listened, as its ingest worker writes them. */
export function createCoverageIntervals(database: Database): SourceStore {
  return {
    openCoverage: (sourceId) => database.transaction((sql) => openCoverage(sql, sourceId)),
    proveCoverage: (sourceId, coverageId, silentMs) =>
      database.transaction(async (sql) => {
        await stayLive(sql, sourceId);
        await sql.run(
          `update coverage set proven_until = now(), heard_until = greatest(from_at, now() - $2 * interval '1 ms')
           where id = $1 and ended_because is null`,
          [coverageId, silentMs],
        );
      }),
    closeCoverage: (sourceId, coverageId, { because, uncoveredMs }) =>
      database.transaction(async (sql) => {
        await sql.run('update sources set live_until = now(), updated_at = now() where id = $1', [sourceId]);
        await sql.run(
          `update coverage set ended_because = $2,
             proven_until = greatest(from_at, now() - $3 * interval '1 ms')
           where id = $1 and ended_because is null`,
          [coverageId, because, uncoveredMs],
        );
      }),
    uncoveredSince: (sourceId) => uncoveredSince(database, sourceId),
  };
}

/**
 * What a dead process left open ends with the last byte that it proved to have heard. The new interval remembers the gap before it, so that
 * it can be repaired.
 */
async function openCoverage(sql: Sql, sourceId: string): Promise<number> {
  await stayLive(sql, sourceId);
  await sql.run(
    `update coverage set ended_because = 'process_died', proven_until = coalesce(heard_until, proven_until)
     where source_id = $1 and ended_because is null`,
    [sourceId],
  );
  const since = await uncoveredSince(sql, sourceId);
  const row = await sql.one<{ id: number }>(
    `insert into coverage (source_id, from_at, proven_until, gap_from, gap_because)
     values ($1, now(), now(), $2, coalesce(
       (select ended_because from coverage where source_id = $1 order by from_at desc limit 1), 'not_listening_yet'))
     returning id`,
    [sourceId, since],
  );
  return row?.id ?? 0;
}

async function uncoveredSince(sql: Sql, sourceId: string): Promise<Date | null> {
  const row = await sql.one<{ since: Date | null }>(
    `select coalesce(
       (select proven_until from coverage where source_id = $1 order by from_at desc limit 1),
       (select min(created_at) from slots where source_id = $1)) as since`,
    [sourceId],
  );
  return row?.since ?? null;
}

async function stayLive(sql: Sql, sourceId: string): Promise<void> {
  await sql.run(
    `update sources set live_until = now() + $2 * interval '1 second', updated_at = now() where id = $1`,
    [sourceId, provenForSeconds],
  );
}
