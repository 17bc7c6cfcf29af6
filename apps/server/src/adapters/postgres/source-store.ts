import type { Platform } from '@earshot/contract';
import type { CoverageAsked, CoverageStore, SourceIntervals } from '../../coverage/read-coverage.ts';
import type { SourceStore } from '../../ingest/source-store.ts';
import type { Database, Sql } from './database.ts';

export interface ConfiguredSource {
  readonly id: string;
  readonly platform: Platform;
  /** The most that is placed on it; less where the upstream turns out to take less. */
  readonly capacity: number;
  /** Nothing new is placed on it, and its slots move to other sources. */
  readonly draining?: boolean;
}

export interface SourceRegistry {
  /** Writes down which sources this node is configured with, so that every node can place slots on them. */
  announce(sources: readonly ConfiguredSource[]): Promise<void>;
}

/** After a crash the ledger entry stays open; the source counts as live for this long after the last proof. */
const provenForSeconds = 10;
/** How far back an answer about a whole platform speaks. */
const lookBackHours = 24;

export function createSourceStore(database: Database): SourceStore & CoverageStore & SourceRegistry {
  return {
    async announce(sources) {
      for (const { id, platform, capacity, draining = false } of sources) {
        await database.run(
          `insert into sources (id, platform, capacity, configured_capacity, enabled) values ($1, $2, $3, $3, $4)
           on conflict (id) do update
             set configured_capacity = excluded.configured_capacity,
               capacity = least(excluded.configured_capacity, sources.learnt_capacity),
               enabled = excluded.enabled, updated_at = now()`,
          [id, platform, capacity, !draining],
        );
      }
    },
    openCoverage: (sourceId) =>
      database.transaction(async (sql) => {
        await stayLive(sql, sourceId);
        const row = await sql.one<{ id: number }>(
          'insert into coverage (source_id, from_at, proven_until) values ($1, now(), now()) returning id',
          [sourceId],
        );
        return row?.id ?? 0;
      }),
    proveCoverage: (sourceId, coverageId) =>
      database.transaction(async (sql) => {
        await stayLive(sql, sourceId);
        await sql.run('update coverage set proven_until = now() where id = $1 and ended_because is null', [
          coverageId,
        ]);
      }),
    closeCoverage: (sourceId, coverageId, { because, uncoveredMs }) =>
      database.transaction(async (sql) => {
        await sql.run('update sources set live_until = now(), updated_at = now() where id = $1', [sourceId]);
        await sql.run(
          `update coverage set ended_because = $2,
             proven_until = greatest(from_at, now() - $3 * interval '1 ms')
           where id = $1`,
          [coverageId, because, uncoveredMs],
        );
      }),
    async uncoveredSince(sourceId) {
      const row = await database.one<{ since: Date | null }>(
        `select coalesce(
           (select max(proven_until) from coverage where source_id = $1),
           (select min(created_at) from slots where source_id = $1)) as since`,
        [sourceId],
      );
      return row?.since ?? null;
    },
    intervals: (asked) => intervals(database, asked),
  };
}

async function stayLive(sql: Sql, sourceId: string): Promise<void> {
  await sql.run(
    `update sources set live_until = now() + $2 * interval '1 second', updated_at = now() where id = $1`,
    [sourceId, provenForSeconds],
  );
}

async function intervals(
  database: Database,
  { accountId, ruleId, platform }: CoverageAsked,
): Promise<SourceIntervals[]> {
  const rows = await database.many<{
    platform: Platform;
    from_at: Date;
    live: Array<{ from: string; to: string; ended_because: string | null }> | null;
    is_live: boolean | null;
    missing: Array<{ from: string; to: string | null }> | null;
  }>(
    `with asked as (
       select slots.source_id, sources.platform, min(greatest(slots.registered_at, slot_holders.since)) as from_at,
         min(slots.id) as slot_id
       from slot_holders join slots on slots.id = slot_holders.slot_id join sources on sources.id = slots.source_id
       where slot_holders.rule_id = $2 and slot_holders.account_id = $1 and not slot_holders.pending
         and slots.registered_at is not null
       group by slots.source_id, sources.platform
       union all
       select sources.id, sources.platform, greatest(now() - $4 * interval '1 hour',
         (select min(created_at) from slots where source_id = sources.id)), null
       from sources where $2::text is null and sources.enabled
         and exists (select 1 from slots where source_id = sources.id)
     )
     select asked.platform, asked.from_at,
       (select json_agg(json_build_object('from', from_at, 'to', proven_until, 'ended_because', ended_because)
          order by from_at)
        from coverage where coverage.source_id = asked.source_id and proven_until >= asked.from_at) as live,
       (select bool_or(ended_because is null and proven_until > now() - $5 * interval '1 second')
        from coverage where coverage.source_id = asked.source_id) as is_live,
       (select json_agg(json_build_object('from', slot_gaps.from_at, 'to', to_at) order by slot_gaps.from_at)
        from slot_gaps where slot_gaps.slot_id = asked.slot_id) as missing
     from asked where asked.from_at is not null and ($3::text is null or asked.platform = $3)`,
    [accountId, ruleId, platform, lookBackHours, provenForSeconds],
  );
  return rows.map((row) => ({
    platform: row.platform,
    from: row.from_at,
    isLive: row.is_live ?? false,
    missing: (row.missing ?? []).map(({ from, to }) => ({
      from: new Date(from),
      to: to === null ? null : new Date(to),
    })),
    live: (row.live ?? []).map((one) => ({
      from: new Date(one.from),
      to: new Date(one.to),
      endedBecause: one.ended_because,
    })),
  }));
}
