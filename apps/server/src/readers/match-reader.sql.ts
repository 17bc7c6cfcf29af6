import type { MatchPayload, Platform, Removal } from '@earshot/contract';
import type { Database, Sql } from '../engines/database.ts';
import { findPlaces, type MatchDay, type MatchQuery, nearRange, type Places } from './match-days.sql.ts';

/** A page ends before its payloads exceed this, however many matches were requested; it has at least one. */
export const pageBytesMax = 1024 * 1024;

export interface StoredMatch {
  readonly position: number;
  readonly ruleId: string;
  readonly ruleVersion: number;
  /** The query that was registered on the platform when the item matched. */
  readonly ruleValue: string;
  readonly createdAt: Date;
  readonly platform: Platform;
  readonly platformPostId: string;
  readonly eventKey: string;
  readonly via: 'stream' | 'search';
  readonly payload: MatchPayload;
}

export interface StoredRemoval {
  readonly position: number;
  /** The position of the removed match. */
  readonly matchPosition: number;
  readonly platform: Platform;
  readonly reason: Removal['reason'];
  readonly at: Date;
}

/** The most removals on one page. Bounds the size of the answer. */
export const removalsMax = 1_000;

export interface MatchPage {
  readonly matches: readonly StoredMatch[];
  /** Between the beginning and the end of the page, in the order of the log. Only with the oldest first. */
  readonly removals: readonly StoredRemoval[];
  /** False if these are all visible matches. */
  readonly more: boolean;
}

export interface MatchRow extends PayloadRow {
  position: number;
  rule_id: string;
  rule_version: number;
  created_at: Date;
  platform: Platform;
  event_key: string;
  via: 'stream' | 'search';
}

export interface PayloadRow extends PayloadSizes {
  platform_post_id: string;
  payload: string;
  rule_value: string;
}

/** Payload bytes of a row and those before it, and of all rows that were found, including those that did not fit. */
interface PayloadSizes {
  bytes: number;
  bytes_of_all: number;
  rows_of_all: number;
}

/** SQL: the columns of `PayloadSizes`. The length of a payload is available without reading it. */
export const sizes = (order: string, partition = '') => `
  sum(octet_length(posts.payload)) over (${partition} order by ${order}) as bytes,
  row_number() over (${partition} order by ${order}) as nth,
  sum(octet_length(posts.payload)) over (${partition}) as bytes_of_all, count(*) over (${partition}) as rows_of_all`;

export type MatchReader = ReturnType<typeof createMatchReader>;

/** Reads the match log of one account. */
export function createMatchReader(database: Database) {
  return {
    read: (query: MatchQuery): Promise<MatchPage> =>
      database.forAccount(query.accountId).snapshot(
        async (sql) => {
          const places = await findPlaces(sql, query);
          const rows = await readMatches(sql, query, places);
          const last = rows.at(-1);
          const more = last !== undefined && (isCut(last) || last.rows_of_all === query.limit);
          const page = { matches: rows.map(toStoredMatch), removals: [], more };
          if (query.order === 'newest' || !places.hasRemovals) return page;
          return await withRemovals(sql, query, places, page);
        },
        // By rows, the planner would prefer the index of the account to that of the rule.
        { plans: query.ruleIds === null ? 'by_rows' : 'generic' },
      ),
    /** Positions of the next matches, and the removals among them. For the oldest first. */
    positions: (query: MatchQuery): Promise<Entry[]> =>
      database.forAccount(query.accountId).snapshot(async (sql) => {
        const places = await findPlaces(sql, query);
        return await readPositions(sql, query, places);
      }),
    /**
     * What a reader has missed: up to which position retention has removed such matches (0: none), and to which position the log went
     * back if the reader was ahead of it. Also the last position to which the log jumped.
     */
    overtaken: (filter: ReaderFilter, position: number) => overtaken(database, filter, position),
  };
}

interface ReaderFilter extends Pick<MatchQuery, 'accountId' | 'platform'> {
  readonly ruleId: string | null;
}

interface OvertakenRow {
  readonly removed: number | null;
  readonly restored: number | null;
  readonly jumped: number | null;
}

async function overtaken(database: Database, filter: ReaderFilter, position: number) {
  const { accountId, ruleId, platform } = filter;
  const [row] = await database.forAccount(accountId).prepared<OvertakenRow>(
    `select (
       select max(last_position) from removed_matches
       where account_id = $1 and ($2::text is null or rule_id = $2) and ($3::text is null or platform = $3)
     ) as removed, ${restoredTo('$4')} as restored, (select max(to_position) from position_jumps) as jumped`,
    [accountId, ruleId, platform, position],
  );
  return {
    removedThrough: row?.removed ?? 0,
    restoredTo: row?.restored ?? null,
    jumpedTo: row?.jumped ?? 0,
  };
}

/** SQL: the position to which the log went back, if that made the given position invalid; else null. */
export const restoredTo = (position: string) => `(
  select min(from_position) from position_jumps where from_position < ${position} and to_position >= ${position})`;

/** A match or a removal at its position in the log. */
interface Entry {
  readonly position: number;
  readonly isRemoval: boolean;
}

async function readPositions(sql: Sql, query: MatchQuery, places: Places): Promise<Entry[]> {
  const { accountId, ruleIds, platform, limit } = query;
  const own = [accountId, limit, places.after, ruleIds, platform, places.hidden];
  const values: unknown[] = [...own];
  const inOrder = 'order by position limit $2';
  const matches = selectMatches(query, places, (value) => `$${values.push(value)}`).map(
    (select) => `(select position, false as "isRemoval" from (${select} ${inOrder}) as found)`,
  );
  const removals = `(select position, true as "isRemoval" from removals where account_id = $1 and position > $3
    and ($4::text[] is null or rule_id = any($4)) and ($5::text is null or platform = $5) and rule_id <> all($6) ${inOrder})`;
  const entries = [...matches, removals].join(' union all ');
  const used = matches.length === 0 ? own : values;
  return await sql.many<Entry>(`select * from (${entries}) as entries ${inOrder}`, used);
}

async function readMatches(sql: Sql, query: MatchQuery, places: Places): Promise<MatchRow[]> {
  const near = nearRange(places, query);
  const found = await readPage(sql, query, { ...places, ...near });
  const isNarrowed = near.after > places.after || near.through < places.through;
  if (!isNarrowed || found[0]?.rows_of_all === query.limit) return found;
  return await readPage(sql, query, places);
}

/** Adds the removals to the page. If there are too many, the page ends with the last one that fits. */
async function withRemovals(
  sql: Sql,
  { accountId, ruleIds, platform, from }: MatchQuery,
  { hidden }: Places,
  page: MatchPage,
): Promise<MatchPage> {
  const through = page.more ? page.matches.at(-1)?.position : null;
  const removals = await sql.many<StoredRemoval>(
    `select position, match_position as "matchPosition", platform, reason, created_at as at from removals
     where account_id = $1 and position > $2 and ($3::bigint is null or position <= $3)
       and ($4::text[] is null or rule_id = any($4)) and ($5::text is null or platform = $5) and rule_id <> all($6)
     order by position limit $7`,
    [accountId, from ?? 0, through ?? null, ruleIds, platform, hidden, removalsMax],
  );
  const last = removals.at(-1);
  if (!last || removals.length < removalsMax) return { ...page, removals };
  return {
    matches: page.matches.filter(({ position }) => position < last.position),
    removals,
    more: true,
  };
}

/** A statement names the days that it reads. With more days than these, it is not prepared. */
const preparedDaysMax = 2;

/**
 * The page is first cut from the narrow table in the order of its index. Only then are payloads fetched, and only those that fit.
 * Written as one join, a planner without fresh statistics sorts everything behind the cursor (measured: 240 ms against 2 ms per page
 * over 50,000 matches).
 *
 * Each day is a separate statement, planned without knowing account and positions. So it is read by the index of the account or rule,
 * for every caller. A planner that knows them walks through the matches of all accounts if it takes the account for a large one. A
 * planner that merges days sorts all of them if it takes the account for a small one. A planner that knows only that there are few
 * accounts would walk too, because the newest matches of all accounts are adjacent: with free page costs it counts rows only.
 */
async function readPage(sql: Sql, query: MatchQuery, places: Places): Promise<MatchRow[]> {
  const values: unknown[] = [query.accountId, query.limit, pageBytesMax];
  const selects = selectDays(query, places, (value) => `$${values.push(value)}`);
  if (selects.length === 0) return [];
  const direction = directionOf(query);
  const parts = selects.map((select) => `(${select} order by position ${direction} limit $2)`);
  const text = pageOf(parts, direction);
  const isKept = new Set(daysIn(places).map(({ day }) => day)).size <= preparedDaysMax;
  return await (isKept ? sql.prepared<MatchRow>(text, values) : sql.many<MatchRow>(text, values));
}

const pageOf = (parts: readonly string[], direction: 'asc' | 'desc') => `with page as materialized (
    select found.*, row_number() over (order by position ${direction}) as number
    from (${parts.join(' union all ')}) as found order by position ${direction} limit $2
  ), wanted as (
    select array_agg(rule_id) as rule_ids, array_agg(event_key) as event_keys, array_agg(platform) as platforms,
      array_agg(event_day) as event_days
    from page
  ), versions as materialized (
    select versions.* from (select distinct rule_id, rule_version, platform from page) as used
    join rule_versions versions on versions.rule_id = used.rule_id
      and versions.version = used.rule_version and versions.platform = used.platform
  ), found as (
    select page.*, posts.platform_post_id, posts.payload, ${sizes('page.number')}
    from wanted cross join lateral posts_of(rule_ids, event_keys, platforms, event_days) as posts
    join page on page.rule_id = posts.rule_id and page.event_key = posts.event_key and page.event_day = posts.event_day
  )
  select found.position, found.rule_id, found.rule_version, found.created_at, found.platform, found.event_key, found.via,
    found.platform_post_id, found.payload, found.bytes, found.bytes_of_all, found.rows_of_all,
    coalesce(versions.translated_value, '') as rule_value
  from found
  left join versions on versions.rule_id = found.rule_id and versions.version = found.rule_version
    and versions.platform = found.platform
  where found.bytes <= $3 or found.nth = 1
  order by found.number`;

const columns = 'position, rule_id, rule_version, created_at, platform, event_key, event_day, via';

/** The partitions that have matches in the range. */
function daysIn({ days, after, through }: Places): readonly MatchDay[] {
  return days.filter((day) => day.last > after && day.first <= through);
}

/**
 * One statement per platform, in the order of its index, over the partitions that have matches in the range. `$1` is the account.
 */
export function selectMatches(
  filter: Pick<MatchQuery, 'ruleIds' | 'since' | 'until' | 'positions'>,
  places: Places,
  parameter: (value: unknown) => string,
): string[] {
  const conditions = conditionsOf(filter, places, parameter);
  const byPlatform = Map.groupBy(daysIn(places), ({ platform }) => platform);
  return [...byPlatform].map(
    ([platform, its]) =>
      `select ${columns} from matches
       where ${conditions} and platform = ${parameter(platform)}
         and event_day = any(${parameter(its.map(({ day }) => day))}::date[])`,
  );
}

/**
 * The same with one statement per platform and day: each is planned for a single partition. Several rules are read one by one, each by
 * its index and no further than the page: together they would be sorted, or found among all matches of the account.
 */
function selectDays(query: MatchQuery, places: Places, parameter: (value: unknown) => string): string[] {
  const days = daysIn(places);
  if (days.length === 0) return [];
  const { ruleIds } = query;
  const several = ruleIds !== null && ruleIds.length > 1 ? parameter(ruleIds) : null;
  const conditions = conditionsOf(several ? { ...query, ruleIds: null } : query, places, parameter);
  return days.map(({ platform, day }) => {
    const ofDay = `select ${columns} from matches
      where ${conditions} and platform = ${parameter(platform)} and event_day = date '${day}'`;
    if (several === null) return ofDay;
    return `select found.* from unnest(${several}::text[]) as wanted (id) cross join lateral (
      ${ofDay} and rule_id = wanted.id order by position ${directionOf(query)} limit $2) as found`;
  });
}

const directionOf = ({ order }: Pick<MatchQuery, 'order'>) => (order === 'oldest' ? 'asc' : 'desc');

function conditionsOf(
  { ruleIds, since, until, positions }: Pick<MatchQuery, 'ruleIds' | 'since' | 'until' | 'positions'>,
  { after, through, hidden }: Places,
  parameter: (value: unknown) => string,
): string {
  const isOne = ruleIds?.length === 1;
  return [
    'account_id = $1',
    ...(ruleIds === null
      ? []
      : [isOne ? `rule_id = ${parameter(ruleIds[0])}` : `rule_id = any(${parameter(ruleIds)})`]),
    ...(since === null ? [] : [`created_at >= ${parameter(since)}`]),
    ...(until === null ? [] : [`created_at < ${parameter(until)}`]),
    ...(hidden.length === 0 ? [] : [`rule_id <> all(${parameter(hidden)})`]),
    ...(positions === undefined ? [] : [`position = any(${parameter(positions)}::bigint[])`]),
    `position > ${parameter(after)} and position <= ${parameter(through)}`,
  ].join(' and ');
}

/** Whether more rows were found than fitted, by the last row. */
export function isCut({ bytes, bytes_of_all }: PayloadSizes): boolean {
  return bytes < bytes_of_all;
}

export function toStoredMatch(row: MatchRow): StoredMatch {
  return {
    position: row.position,
    ruleId: row.rule_id,
    ruleVersion: row.rule_version,
    ruleValue: row.rule_value,
    createdAt: row.created_at,
    platform: row.platform,
    platformPostId: row.platform_post_id,
    eventKey: row.event_key,
    via: row.via,
    payload: JSON.parse(row.payload),
  };
}
