import type { Platform } from '@earshot/contract';
import type { Database, Sql } from '../engines/database.ts';
import { fenced, type Lease } from '../engines/leases.ts';
import { raiseNotices } from '../notices/notice-log.sql.ts';
import { provenForSeconds } from '../slots/receiving.sql.ts';
import { accountsOn } from '../slots/slot-holding.sql.ts';
import type { EndingKind } from '../upstream/upstream-stream.ts';

export interface CoverageEnd {
  readonly because: string;
  /** The end of the interval in which nothing was received or stored. Null: everything since the last proof. */
  readonly uncoveredMs: number | null;
}

export interface OpenInterval {
  readonly id: number;
  readonly provenUntil: Date;
}

export type CoverageIntervals = ReturnType<typeof createCoverageIntervals>;

/** The coverage intervals of a source on the ledger, written by its ingest worker. */
export function createCoverageIntervals(database: Database) {
  return {
    /** Opens a coverage interval; the source is live. */
    openCoverage: (sourceId: string) => database.transaction((sql) => openCoverage(sql, sourceId)),
    /**
     * Records that everything up to now is covered. If the last byte arrived `silentMs` ago, a later end of the
     * stream shortens that. Returns the proven time. Returns null if the interval was closed or the database was
     * restored. A late proof changes nothing.
     */
    async proveCoverage(
      sourceId: string,
      { id, provenUntil }: OpenInterval,
      silentMs: number,
    ): Promise<Date | null> {
      // One statement, because every source runs it every second. The interval is locked before the source, like in
      // all statements here: a proof that waited for the end of the interval finds it closed.
      const [row] = await database.prepared<{ proven_until: Date }>(
        `with open as (
           select from coverage where id = $3 and ended_because is null and proven_until >= $5 for update
         ), live as (${staysLive} and exists (select from open))
         update coverage set proven_until = greatest(proven_until, now()),
           received_until = greatest(from_at, received_until, now() - $4 * interval '1 ms')
         where id = $3 and exists (select from open) returning proven_until`,
        [sourceId, provenForSeconds, id, silentMs, provenUntil],
      );
      return row?.proven_until ?? null;
    },
    /** The interval ends at the time of the call, although the database may answer later. */
    async closeCoverage(
      sourceId: string,
      coverageId: number,
      { because, uncoveredMs }: CoverageEnd,
    ): Promise<void> {
      const calledAt = performance.now();
      await database.transaction(async (sql) => {
        const uncoveredByNowMs = uncoveredMs === null ? null : uncoveredMs + performance.now() - calledAt;
        await sql.run(
          `update coverage set ended_because = $2,
             proven_until = case when $3::float8 is null then coalesce(received_until, proven_until)
               else greatest(from_at, now() - $3 * interval '1 ms') end
           where id = $1 and ended_because is null`,
          [coverageId, because, uncoveredByNowMs],
        );
        // After a planned end, the platform replays what the source misses, so it stays live while it reconnects.
        await sql.run(
          `update sources set updated_at = now(),
             live_until = case when $2 then live_until else now() - coalesce($3::float8, 0) * interval '1 ms' end
           where id = $1`,
          [sourceId, because === 'finished', uncoveredByNowMs],
        );
      });
    },
    /**
     * Start of the time that a source may have missed: the end of its last coverage, or the registration of its first
     * rule. Null if there was nothing to miss.
     */
    uncoveredSince: (sourceId: string) => uncoveredSince(database, sourceId),
    /**
     * Whether the log lost events of the source. The connection continued for a moment after the loss, so the last
     * event in the log is too new to resume from. The source resumes where the ledger was cut.
     */
    async hasLostLog(sourceId: string): Promise<boolean> {
      const row = await database.one<{ ended_because: string | null }>(
        'select ended_because from coverage where source_id = $1 order by from_at desc, id desc limit 1',
        [sourceId],
      );
      return row?.ended_because === 'log_lost';
    },
    /** The platform no longer has items from before `before`, so gaps that began earlier are not repaired by replaying. */
    async recordLost(sourceId: string, before: Date): Promise<void> {
      await database.run(
        `update coverage set repair = 'none', repair_via = 'replay', repair_because = 'longer_than_replay'
         where source_id = $1 and gap_from < $2 and (repair is null or repair = 'under_way')`,
        [sourceId, before],
      );
    },
    /**
     * Records why the source is still disconnected. A lost log stays the reason, because it decides where to resume.
     * Throws LeaseLost without the lease.
     */
    explainGap: (lease: Lease, sourceId: string, reason: EndingKind) =>
      fenced(database, lease, (sql) =>
        sql.run(
          `update coverage set ended_because = $2
           where id = (select max(id) from coverage where source_id = $1) and ended_because is distinct from 'log_lost'`,
          [sourceId, reason],
        ),
      ),
  };
}

/**
 * Closes an interval that a crashed process left open at the last byte that it recorded. The new interval has the gap
 * before it, for the repair.
 */
async function openCoverage(sql: Sql, sourceId: string): Promise<OpenInterval> {
  await sql.run(
    `update coverage set ended_because = 'process_died', proven_until = coalesce(received_until, proven_until)
     where source_id = $1 and ended_because is null`,
    [sourceId],
  );
  const since = await uncoveredSince(sql, sourceId);
  const row = await sql.one<{ id: number; proven_until: Date; gap_because: string; platform: Platform }>(
    `insert into coverage (source_id, from_at, proven_until, gap_from, gap_because)
     values ($1, now(), now(), $2, coalesce(
       (select ended_because from coverage where source_id = $1 order by from_at desc limit 1), 'not_listening_yet'))
     returning id, proven_until, gap_because, (select platform from sources where id = $1) as platform`,
    [sourceId, since],
  );
  if (!row) throw new Error('the ledger did not take an interval');
  const { id, proven_until: provenUntil, gap_because: reason, platform } = row;
  await sql.run(staysLive, [sourceId, provenForSeconds]);
  const isLong = since !== null && provenUntil.getTime() - since.getTime() >= shortGapSeconds * 1000;
  if (isLong && !silentReasons.has(reason)) {
    await raiseNotices(sql, await accountsOn(sql, sourceId), {
      type: 'coverage.gap',
      subject: { kind: 'platform', id: platform, name: platform },
      key: String(id),
      data: { platform, from: since.toISOString(), to: provenUntil.toISOString(), reason },
    });
  }
  return { id, provenUntil };
}

/** A shorter gap raises a notice only if it is not repaired. */
export const shortGapSeconds = 5;

/** No notice for these: the platform replays planned ends, and before its first rule a source misses nothing. */
export const silentReasons: ReadonlySet<string> = new Set(['finished', 'no_rules', 'not_listening_yet']);

/**
 * Cuts the coverage at `from`, because later events are lost. Later intervals become empty. A connected source
 * notices this at its next proof and reconnects, so that lost events can be replayed or searched.
 */
export async function cutCoverage(sql: Sql, from: Date): Promise<void> {
  await sql.run(
    `update coverage set ended_because = 'log_lost', from_at = least(from_at, $1), proven_until = least(proven_until, $1),
       received_until = least(received_until, $1), gap_from = case when gap_from < $1 then gap_from end
     where ended_because is null or proven_until > $1`,
    [from],
  );
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

const staysLive = `update sources set live_until = greatest(live_until, now() + $2 * interval '1 second'), updated_at = now() where id = $1`;
