import { platforms as allPlatforms, type Platform } from '@earshot/contract';
import type { Database } from '../engines/database.ts';
import { provenForSeconds } from '../slots/receiving.sql.ts';
import type { Interval, Ledger, SlotRepair, WatchedPeriod } from './ledger.ts';

/** The newest rows of the window, per source and per rule history. */
const rowsMax = 2_000;

export interface CoverageQuery {
  readonly accountId: string;
  readonly ruleId: string | null;
  readonly platform: Platform | null;
  readonly from: Date;
  readonly to: Date;
}

/** Reads the ledger. Every statement is bounded by the window and `rowsMax`, and answered from an index. */
export function createCoverageStore(database: Database) {
  return {
    async read(query: CoverageQuery): Promise<Ledger> {
      const ruleId = query.ruleId;
      const [clock, platforms, watched] = await Promise.all([
        database.one<{ now: Date; matched_through: Date }>(
          'select now(), matched_through from match_progress',
        ),
        ruleId === null
          ? allPlatforms.filter((one) => one === (query.platform ?? one))
          : platformsOf(database, query),
        ruleId === null ? watchedSources(database, query) : watchedSlots(database, query),
      ]);
      const sources = await intervalsOf(database, query, [...new Set(watched.map((one) => one.sourceId))]);
      const slotIds = [...new Set(watched.flatMap(({ slotId }) => slotId ?? []))];
      const rows = [...sources.values()].flat();
      return {
        now: clock?.now ?? query.to,
        matchedThrough: clock?.matched_through ?? query.from,
        from: readFrom(query.from, sources),
        to: query.to,
        platforms,
        needsAll: ruleId === null,
        watched,
        intervals: sources,
        missing: await missingOf(database, query, watched),
        repairs: await repairsOf(
          database,
          slotIds,
          rows.map(({ id }) => id),
        ),
      };
    },
  };
}

export type CoverageStore = ReturnType<typeof createCoverageStore>;

/** After `rowsMax` rows there may be older ones, so the result starts at the oldest row that was read. */
function readFrom(from: Date, sources: ReadonlyMap<string, readonly Interval[]>): Date {
  const begins = [...sources.values()].flatMap((rows) =>
    rows.length < rowsMax ? [] : (rows[0]?.from ?? []),
  );
  return new Date(Math.max(from.getTime(), ...begins.map((begin) => begin.getTime())));
}

async function platformsOf(
  database: Database,
  { accountId, ruleId, platform }: CoverageQuery,
): Promise<Platform[]> {
  const rows = await database.forAccount(accountId).many<{ platform: Platform }>(
    `select v.platform from rules join rule_versions v on v.rule_id = rules.id and v.version = rules.version
     where rules.id = $1 and rules.account_id = $2 and ($3::text is null or v.platform = $3)
     order by v.platform desc`,
    [ruleId, accountId, platform],
  );
  return rows.map((row) => row.platform);
}

interface WatchedRow {
  platform: Platform;
  source_id: string;
  slot_id: string | null;
  from_at: Date;
  applied_from: Date;
  to_at: Date | null;
}

/** Periods in which the rule held the slot while the source had it upstream. */
async function watchedSlots(
  database: Database,
  { accountId, ruleId, platform, from, to }: CoverageQuery,
): Promise<WatchedPeriod[]> {
  const rows = await database.forAccount(accountId).many<WatchedRow>(
    `select * from (
       select platform, source_id, slot_id, from_at, to_at, applied_from
       from watched_slots($1) where $2::text is null or platform = $2
     ) as watched where (to_at is null or (to_at > from_at and to_at >= $3)) and from_at <= $4
     order by from_at desc limit ${rowsMax}`,
    [ruleId, platform, from, to],
  );
  return rows.map(toWatched);
}

/** The sources of each platform, from the account's first rule there until its last. Other times would reveal what other accounts did. */
async function watchedSources(database: Database, query: CoverageQuery): Promise<WatchedPeriod[]> {
  const own = await accountPeriods(database, query);
  const sources = await database.many<{ platform: Platform; source_id: string; begun: Date }>(
    `select platform, id as source_id, first.begun
     from sources join lateral (
       select coalesce(registered_at, created_at) as begun from slots where source_id = sources.id order by created_at limit 1
     ) as first on true
     where sources.enabled and platform = any($1)`,
    [[...own.keys()]],
  );
  return sources.flatMap(({ platform, source_id: sourceId, begun }) => {
    const period = own.get(platform);
    if (!period) return [];
    const { from_at, applied_from, to_at: to } = period;
    const [from, appliedFrom] = [latest(begun, from_at), latest(begun, applied_from)];
    return [{ platform, sourceId, slotId: null, from, appliedFrom, to }];
  });
}

const latest = (a: Date, b: Date) => (a > b ? a : b);

type AccountPeriod = Pick<WatchedRow, 'platform' | 'from_at' | 'applied_from' | 'to_at'>;

/** Platforms on which the account never had a rule are missing. */
async function accountPeriods(
  database: Database,
  { accountId, platform }: CoverageQuery,
): Promise<ReadonlyMap<Platform, AccountPeriod>> {
  const rows = await database.forAccount(accountId).many<AccountPeriod>(
    `select platform, first.from_at, first.applied_from, case when not exists (
         select 1 from slot_holders holders where holders.account_id = $1 and holders.platform = wanted.platform and not pending)
       then (select max(to_at) from watches where watches.account_id = $1 and watches.platform = wanted.platform) end as to_at
     from unnest($2::text[]) as wanted (platform) cross join lateral (
       select served.from_at, served.applied_from from (
         select rule_id from watches where watches.account_id = $1 and watches.platform = wanted.platform order by from_at limit 1
       ) as oldest cross join watched_slots(oldest.rule_id) as served
       where served.platform = wanted.platform order by served.from_at limit 1
     ) as first`,
    [accountId, allPlatforms.filter((one) => one === (platform ?? one))],
  );
  return new Map(rows.map((row) => [row.platform, row]));
}

function toWatched(row: WatchedRow): WatchedPeriod {
  return {
    platform: row.platform,
    sourceId: row.source_id,
    slotId: row.slot_id,
    from: row.from_at,
    appliedFrom: row.applied_from,
    to: row.to_at,
  };
}

interface IntervalRow {
  source_id: string;
  id: number;
  from_at: Date;
  proven_until: Date;
  ended_because: string | null;
  unproven_because: string | null;
  repair: Interval['repair'];
  repair_via: Interval['repairVia'];
  repair_because: string | null;
}

/** Intervals of a source do not overlap, so only the last one before the window can reach into it. */
async function intervalsOf(
  database: Database,
  { from, to }: CoverageQuery,
  sourceIds: readonly string[],
): Promise<Map<string, Interval[]>> {
  const rows = await database.many<IntervalRow>(
    `select rows.* from unnest($1::text[]) as wanted (source_id) cross join lateral (
       select source_id, coverage.id, from_at, ended_because, repair, repair_via, repair_because,
         case when ended_because is null and proven_until < now() - interval '${provenForSeconds} seconds'
           then coalesce(received_until, proven_until) else proven_until end as proven_until,
         case when state = 'log_unavailable' then state end as unproven_because
       from coverage join sources on sources.id = source_id
       where source_id = wanted.source_id and from_at <= $3 and from_at >= coalesce(
         (select max(from_at) from coverage where source_id = wanted.source_id and from_at <= $2), '-infinity')
       order by from_at desc limit ${rowsMax}
     ) as rows order by rows.source_id, rows.from_at`,
    [sourceIds, from, to],
  );
  const bySource = Map.groupBy(rows, (row) => row.source_id);
  return new Map([...bySource].map(([sourceId, own]) => [sourceId, own.map(toInterval)]));
}

function toInterval(row: IntervalRow): Interval {
  return {
    id: row.id,
    from: row.from_at,
    to: row.proven_until,
    endedBecause: row.ended_because,
    unprovenBecause: row.unproven_because,
    repair: row.repair,
    repairVia: row.repair_via,
    repairBecause: row.repair_because,
  };
}

/** A rule that is registered again starts as late as a new one, so its gap ends that much later. */
async function missingOf(
  database: Database,
  { from, to }: CoverageQuery,
  watched: readonly WatchedPeriod[],
): Promise<Ledger['missing']> {
  const slots = watched.flatMap(({ slotId, sourceId }) => (slotId ? [{ slotId, sourceId }] : []));
  const rows = await database.many<{ slot_id: string; from_at: Date; to_at: Date | null }>(
    `select distinct slot_gaps.slot_id, from_at, to_at + rule_delay_ms * interval '1 ms' as to_at
     from unnest($1::text[], $2::text[]) as watched (slot_id, source_id)
     join slot_gaps on slot_gaps.slot_id = watched.slot_id
     join sources on sources.id = watched.source_id
     where from_at <= $4 and (to_at is null or to_at >= $3)
     order by from_at desc limit ${rowsMax}`,
    [slots.map(({ slotId }) => slotId), slots.map(({ sourceId }) => sourceId), from, to],
  );
  return rows.map(({ slot_id, from_at, to_at }) => ({ slotId: slot_id, from: from_at, to: to_at }));
}

async function repairsOf(
  database: Database,
  slotIds: readonly string[],
  intervalIds: readonly number[],
): Promise<SlotRepair[]> {
  if (slotIds.length === 0) return [];
  const rows = await database.many<{
    coverage_id: number;
    slot_id: string;
    via: SlotRepair['via'];
    state: 'waiting' | 'done' | 'impossible';
    because: string | null;
    fidelity: string[];
    matches: number;
  }>(
    `select coverage_id, slot_id, via, state, because, fidelity, matches from gap_repairs
     where coverage_id = any($1) and slot_id = any($2)`,
    [intervalIds, slotIds],
  );
  return rows.map((row) => ({
    intervalId: row.coverage_id,
    slotId: row.slot_id,
    state: row.state === 'done' ? 'repaired' : row.state,
    via: row.via,
    because: row.because,
    fidelity: row.fidelity,
    matches: row.matches,
  }));
}
