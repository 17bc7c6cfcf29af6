import type { ArchiveFormat } from '@earshot/contract';
import type { Database, Sql } from '../engines/database.ts';
import { clockFrom } from '../engines/database-time.ts';
import { raiseNotices, resolveNotices } from '../notices/notice-log.sql.ts';
import { newId } from '../runtime/ids.ts';

/** An archive that only this node may write, for three minutes. */
export interface LeasedArchive {
  readonly lease: string;
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
  readonly prefix: string;
  readonly accessKeyId: string;
  /** Sealed. */
  readonly secret: Buffer;
  readonly format: ArchiveFormat;
  readonly ruleIds: readonly string[] | null;
  readonly position: number;
  readonly coveredUntil: Date;
  readonly failures: number;
  /** Null if the next hour is not over. */
  readonly hour: DueHour | null;
  /** The time of the database. */
  readonly nowMs: () => number;
}

/** The hour that begins at `coveredUntil`, and the last position of the matches in it. */
interface DueHour {
  readonly end: Date;
  readonly lastPosition: number;
}

/** An object by its positions, before it is written. */
export interface PlannedObject {
  readonly hour: Date;
  readonly first: number;
  readonly last: number;
}

export interface WrittenObject extends PlannedObject {
  readonly matches: number;
  readonly bytes: number;
  readonly sha256: string;
}

/** What is in the bucket from now on. */
export interface Progress {
  /** Null if only the manifest was written. */
  readonly object: WrittenObject | null;
  readonly position: number;
  readonly coveredUntil: Date;
}

/** Longer than an attempt can take. */
const leaseSeconds = 180;
const noLease = `lease = null, lease_until = '-infinity'`;
const isOurs = 'id = $1 and lease = $2';
/** After the end of an hour, transactions may still store matches with times in it. Later ones are in the objects of the next hour. */
const settleSeconds = 60;
/** The owner gets a notice when a failure has lasted this long. */
const noticeAfterMs = 15 * 60_000;

export type ArchiveStore = ReturnType<typeof createArchiveStore>;

export function createArchiveStore(database: Database) {
  return {
    leaseDue: (max: number) => leaseDue(database, max),
    async planned({ id }: LeasedArchive): Promise<PlannedObject | null> {
      return await database.one<PlannedObject>(
        `select hour, first_position as first, last_position as last from archive_objects
         where archive_id = $1 and matches is null`,
        [id],
      );
    },
    /** Written before the object, so that a crash does not change its name. */
    async plan({ id, lease, accountId }: LeasedArchive, { hour, first, last }: PlannedObject): Promise<void> {
      const written = await database.run(
        `insert into archive_objects (archive_id, account_id, hour, first_position, last_position)
         select $1, $3, $4, $5, $6 from archives where ${isOurs} for share`,
        [id, lease, accountId, hour, first, last],
      );
      if (written === 0) throw new Error('the archive was deleted, or another node has leased it');
    },
    /** The objects of a day that are in the bucket. */
    async objectsOf({ id }: LeasedArchive, day: Date): Promise<WrittenObject[]> {
      return await database.many<WrittenObject>(
        `select hour, first_position as first, last_position as last, matches, bytes, sha256 from archive_objects
         where archive_id = $1 and matches is not null and hour >= $2 and hour < $2 + interval '1 day' order by last_position`,
        [id, day],
      );
    },
    /** Ends the lease. True if the owner gets a notice. */
    succeed: (leased: LeasedArchive, progress: Progress) =>
      database.transaction((sql) => succeed(sql, leased, progress)),
    fail: (leased: LeasedArchive, failure: { problem: string; retryInMs: number }) =>
      database.transaction((sql) => fail(sql, leased, failure)),
    async release({ id, lease }: LeasedArchive): Promise<void> {
      await database.run(`update archives set ${noLease} where ${isOurs}`, [id, lease]);
    },
  };
}

interface LeasedRow extends Omit<LeasedArchive, 'lease' | 'hour' | 'nowMs'> {
  readonly hourEnd: Date;
  readonly isDue: boolean;
  readonly lastPosition: number;
  readonly leasedAt: Date;
}

async function leaseDue(database: Database, max: number): Promise<LeasedArchive[]> {
  const lease = newId('snd');
  const rows = await database.prepared<LeasedRow>(
    `with due as (
       select id from archives
       where next_attempt_at <= now() and lease_until < now()
         and account_id not in (select accounts.id from accounts where suspended_at is not null)
       order by next_attempt_at limit $2 for update skip locked
     )
     update archives set lease = $1, lease_until = now() + interval '${leaseSeconds} seconds'
     from due where archives.id = due.id
     returning archives.id, account_id as "accountId", name, endpoint, region, bucket, prefix, access_key_id as "accessKeyId", secret,
       format, rule_ids as "ruleIds", position, covered_until as "coveredUntil", failures, now() as "leasedAt",
       covered_until + interval '1 hour' as "hourEnd",
       covered_until + interval '1 hour' + interval '${settleSeconds} seconds' <= now() as "isDue",
       greatest(position, least((select last_position from match_log), coalesce((
         select last_position from match_times where began < covered_until + interval '1 hour' order by began desc limit 1
       ), 0))) as "lastPosition"`,
    [lease, max],
  );
  return rows.map(({ hourEnd, isDue, lastPosition, leasedAt, ...row }) => ({
    ...row,
    lease,
    hour: isDue ? { end: hourEnd, lastPosition } : null,
    nowMs: clockFrom(leasedAt),
  }));
}

async function succeed(
  sql: Sql,
  { id, lease, name }: LeasedArchive,
  { object, position, coveredUntil }: Progress,
): Promise<boolean> {
  const written = await sql.run(
    `update archives set position = $3, covered_until = $4::timestamptz, written_at = now(), failures = 0, failing_since = null, problem = null,
       next_attempt_at = $4::timestamptz + interval '1 hour' + interval '${settleSeconds} seconds', ${noLease}
     where ${isOurs}`,
    [id, lease, position, coveredUntil],
  );
  if (written === 0) return false;
  if (object)
    await sql.run(
      `update archive_objects set matches = $3, bytes = $4, sha256 = $5 where archive_id = $1 and last_position = $2`,
      [id, object.last, object.matches, object.bytes, object.sha256],
    );
  await sql.run(
    `delete from archive_objects where archive_id = $1 and matches is not null
       and hour < date_trunc('day', $2::timestamptz, 'UTC') - interval '1 day'`,
    [id, coveredUntil],
  );
  const subject = { kind: 'archive', id, name } as const;
  return (await resolveNotices(sql, { types: ['archive.failing'], subject })).length > 0;
}

async function fail(
  sql: Sql,
  { id, lease, accountId, name }: LeasedArchive,
  { problem, retryInMs }: { problem: string; retryInMs: number },
): Promise<boolean> {
  const row = await sql.one<{ since: Date; now: Date }>(
    `update archives set failures = failures + 1, failing_since = coalesce(failing_since, now()), problem = $3,
       next_attempt_at = now() + $4 * interval '1 ms', ${noLease}
     where ${isOurs} returning failing_since as since, now() as now`,
    [id, lease, problem, retryInMs],
  );
  if (!row || row.now.getTime() - row.since.getTime() < noticeAfterMs) return false;
  const data = { failing_since: row.since.toISOString(), message: problem };
  const subject = { kind: 'archive', id, name } as const;
  return (await raiseNotices(sql, [accountId], { type: 'archive.failing', subject, data })) > 0;
}
