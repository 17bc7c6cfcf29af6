import { type Delivery, isBillable } from '../billing/bill.ts';
import { claimBill, recordBill } from '../billing/meter.sql.ts';
import { type Database, retryOnConflict, type Sql, textArray } from '../engines/database.ts';
import type { LogEvent } from '../event-log/event-log.ts';
import type { Traces } from '../observability/traces.ts';
import { writeStories } from '../stories/stories.sql.ts';
import { type StoryItem, storyItemOf } from '../stories/story-keys.ts';
import type { Holder, NewMatch, SlotReferences } from './match-events.ts';
import { daysAheadMax, partitionDays } from './partitions.ts';

export interface DeadLetter {
  readonly sequence: number;
  /** The sequence, if this is the last open event of its message; otherwise empty. */
  readonly settled: readonly number[];
  /** Null if the body is not an event. */
  readonly event: LogEvent | null;
  readonly body: string;
  readonly error: string;
  readonly deliveries: number;
  readonly loggedAt: Date | null;
}

/** The result of one transaction. */
export interface StoredBatch {
  /** New matches per platform. */
  readonly counts: Readonly<Record<string, number>>;
  /** The new matches of traced items. */
  readonly traced: readonly TracedPosition[];
}

interface TracedPosition {
  readonly position: number;
  readonly ruleId: string;
  readonly eventKey: string;
}

const nothingStored: StoredBatch = { counts: {}, traced: [] };

/** Selects holders with the source and upstream rule of the slot, or of the event. */
const holderColumns = (
  named: 'slots' | 'referenced',
) => `slots.id as "slotId", ${named}.source_id as "sourceId", ${named}.upstream_rule_id as "upstreamRuleId", slots.value,
  slot_holders.rule_id as "ruleId", slot_holders.account_id as "accountId", slot_holders.rule_version as "ruleVersion",
  case when $4::boolean then least(slot_holders.since, (
    select min(from_at) from watches where watches.rule_id = slot_holders.rule_id and watches.slot_id = slots.id
  )) end as "heldSince"`;

interface MatchStoreOptions {
  readonly retentionDays?: number;
  readonly traces?: Traces | null;
  /** Another function, to measure what stories cost. */
  readonly findStoryItem?: typeof storyItemOf;
}

export function createMatchStore(
  database: Database,
  { retentionDays = 30, traces = null, findStoryItem = storyItemOf }: MatchStoreOptions = {},
) {
  return {
    holdersOf: (references: SlotReferences) => holdersOf(database, references),
    /** Sources with a pending registration, where an unknown rule id may soon be known. */
    async sourcesRegistering(sourceIds: readonly string[]): Promise<Set<string>> {
      if (sourceIds.length === 0) return new Set();
      const rows = await database.many<{ source_id: string }>(
        `select distinct source_id from slots where source_id = any($1) and state = 'wanted'`,
        [sourceIds],
      );
      return new Set(rows.map((row) => row.source_id));
    },
    days: () => partitionDays(database),
    /** Creates partitions for days within retention and not too far in the future. */
    async makeDays(days: readonly string[]): Promise<void> {
      const wellFormed = days.filter((day) => /^\d{4}-\d\d-\d\d$/.test(day));
      await database.run(
        `select ensure_partitions(day, day) from unnest($1::date[]) as day
         where day between (now() at time zone 'UTC')::date - $2::integer and (now() at time zone 'UTC')::date + $3::integer`,
        [wellFormed, retentionDays, daysAheadMax],
      );
    },
    /**
     * Writes a batch in one transaction and returns the new matches. `settled` are log sequences; `deliveries` are
     * billed with them.
     */
    write: (
      posts: readonly LogEvent[],
      matches: readonly NewMatch[],
      settled: readonly number[],
      deliveries: readonly Delivery[],
    ): Promise<StoredBatch> => {
      const isNeeded = matches.length > 0;
      const storyItems = new Map(
        isNeeded ? posts.map((post) => [nameOf(post.platform, post.key), findStoryItem(post)]) : [],
      );
      const batch = { posts, matches, settled, deliveries, traces, storyItems };
      // Two transactions with the same match of a stored post may deadlock: one waits for the key, one for its commit
      // order.
      return retryOnConflict(() => database.transaction((sql) => insertBatch(sql, batch)));
    },
    /** Stores a dead letter and settles it, in one transaction. Removed items are not kept. */
    writeDeadLetter: (letter: DeadLetter) => database.transaction((sql) => insertDeadLetter(sql, letter)),
  };
}

export type MatchStore = ReturnType<typeof createMatchStore>;

interface MatchBatch {
  readonly posts: readonly LogEvent[];
  readonly matches: readonly NewMatch[];
  readonly settled: readonly number[];
  readonly deliveries: readonly Delivery[];
  readonly traces: Traces | null;
  readonly storyItems: ReadonlyMap<string, StoryItem>;
}

const nameOf = (platform: string, key: string) => `${platform} ${key}`;

async function insertBatch(sql: Sql, batch: MatchBatch): Promise<StoredBatch> {
  const { posts, matches, settled, deliveries } = batch;
  if (matches.length === 0) {
    await settle(sql, settled);
    await recordBill(sql, await claimBill(sql, deliveries));
    return nothingStored;
  }
  const removed = await insertPosts(sql, posts, settled);
  const isKept = (platform: string, key: string) => !removed.has(nameOf(platform, key));
  const kept = matches.filter(({ platform, eventKey }) => isKept(platform, eventKey));
  // Removed items have no recipients.
  const bill = await claimBill(
    sql,
    deliveries.map((one) => (isKept(one.event.platform, one.event.key) ? one : { ...one, recipients: [] })),
  );
  const stored = kept.length > 0 ? await insertMatches(sql, kept, batch) : nothingStored;
  await recordBill(sql, bill);
  return stored;
}

async function holdersOf(sql: Sql, { slotIds, upstreamRules, searched }: SlotReferences): Promise<Holder[]> {
  return await sql.prepared<Holder>(
    `with referenced as (select * from unnest($2::text[], $3::text[]) as referenced (source_id, upstream_rule_id))
     select ${holderColumns('slots')} from slots join slot_holders on slot_holders.slot_id = slots.id
     where slots.id = any($1) and not slot_holders.pending
     union all
     select ${holderColumns('referenced')} from referenced
     join slots on slots.source_id = referenced.source_id and slots.upstream_rule_id = referenced.upstream_rule_id
     join slot_holders on slot_holders.slot_id = slots.id and not slot_holders.pending
     union all
     select ${holderColumns('referenced')} from referenced
     join slots on slots.moved_from = referenced.source_id and slots.moved_rule_id = referenced.upstream_rule_id
       and (slots.source_id <> slots.moved_from or slots.upstream_rule_id is distinct from slots.moved_rule_id)
     join slot_holders on slot_holders.slot_id = slots.id and not slot_holders.pending`,
    [
      slotIds,
      upstreamRules.map((one) => one.sourceId),
      upstreamRules.map((one) => one.upstreamRuleId),
      searched,
    ],
  );
}

async function insertDeadLetter(sql: Sql, letter: DeadLetter): Promise<void> {
  const { sequence, settled, event, body, error, deliveries, loggedAt } = letter;
  await settle(sql, settled);
  if (isBillable(event) && loggedAt !== null) {
    const delivery = { event, day: loggedAt.toISOString().slice(0, 10), recipients: [] };
    await recordBill(sql, await claimBill(sql, [delivery]));
  }
  if (isNameable(event) && (await findRemoved(sql, [event])).size > 0) return;
  await sql.run('insert into dead_letters (sequence, body, error, deliveries) values ($1, $2, $3, $4)', [
    sequence,
    body.replaceAll('\0', ''),
    error.replaceAll('\0', '').slice(0, 2_000),
    deliveries,
  ]);
}

/** Runs in the transaction that stores the events, so that a settled event is always stored. */
async function settle(sql: Sql, sequences: readonly number[]): Promise<void> {
  if (sequences.length === 0) return;
  await sql.run('insert into settled_batches (last_sequence, sequences) values ($1, $2)', [
    Math.max(...sequences),
    sequences,
  ]);
}

/** A name by which an item can be removed: its id, its first version, or its author. */
export interface ItemName {
  readonly kind: 'item' | 'author';
  readonly value: string;
}

export function namesOf({
  platformPostId,
  payload,
}: Pick<LogEvent, 'platformPostId' | 'payload'>): ItemName[] {
  const { url, edit_of, author } = payload;
  const handle = author?.handle ? `@${author.handle.toLowerCase()}` : null;
  const named = (kind: ItemName['kind'], values: ReadonlyArray<string | null | undefined>) =>
    // PostgreSQL's text cannot hold U+0000, and no tombstone has it.
    [...new Set(values)].flatMap((value) => (value && !value.includes('\0') ? [{ kind, value }] : []));
  return [...named('item', [platformPostId, url, edit_of]), ...named('author', [author?.id, handle])];
}

/** A dead letter can be any JSON value. */
export function isNameable(event: LogEvent | null): event is LogEvent {
  try {
    return event !== null && namesOf(event).length > 0;
  } catch {
    return false;
  }
}

/**
 * SQL: the events that have a tombstone. An author's tombstone applies to items published before it. The inner limit
 * makes it one index lookup per name. `for key share` locks the table against new tombstones
 * (removals/tombstones.sql.ts) before anything is read. So either this statement finds the tombstone, or the removal
 * finds the stored item.
 */
const removedEvents = `select distinct named.platform, named.event_key
  from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::float8[])
    as named (platform, event_key, kind, value, published_ms)
  join lateral (
    select 1 from tombstones
    where tombstones.platform = named.platform and tombstones.kind = named.kind and tombstones.value = named.value
      and (named.kind = 'item' or named.published_ms is null
        or named.published_ms <= extract(epoch from tombstones.at) * 1000)
    limit 1 for key share
  ) as removed on true`;

function namesAsArrays(events: readonly LogEvent[]): unknown[][] {
  const named = events.flatMap((event) => namesOf(event).map((name) => ({ event, ...name })));
  const publishedMs = named.map(({ event }) => Date.parse(event.payload.published_at ?? ''));
  return [
    named.map(({ event }) => event.platform),
    named.map(({ event }) => event.key),
    named.map(({ kind }) => kind),
    named.map(({ value }) => value),
    publishedMs.map((ms) => (Number.isNaN(ms) ? null : ms)),
  ];
}

interface RemovedRow {
  platform: string;
  event_key: string;
}

const toRemoved = (rows: readonly RemovedRow[]): ReadonlySet<string> =>
  new Set(rows.map(({ platform, event_key }) => nameOf(platform, event_key)));

async function findRemoved(sql: Sql, events: readonly LogEvent[]): Promise<ReadonlySet<string>> {
  return toRemoved(await sql.prepared<RemovedRow>(removedEvents, namesAsArrays(events)));
}

/**
 * Inserts posts and returns those that have a tombstone, which are not stored. Also settles all of them, to save a
 * round trip. Rows are in key order, so that two writers with the same events do not deadlock.
 */
async function insertPosts(
  sql: Sql,
  posts: readonly LogEvent[],
  settled: readonly number[],
): Promise<ReadonlySet<string>> {
  const rows = await sql.prepared<RemovedRow>(
    `with removed as materialized (${removedEvents}), settled as (
       insert into settled_batches (last_sequence, sequences)
       select max(sequence), $6 from unnest($6::bigint[]) as sequence having count(*) > 0
     ), stored as (
       insert into posts (platform, event_key, event_day, platform_post_id, payload)
       select * from unnest($7::text[], $8::text[], $9::date[], $10::text[], $11::text[])
         as new (platform, event_key, event_day, platform_post_id, payload)
       where (platform, event_key) not in (select platform, event_key from removed)
       order by event_key
       on conflict do nothing
     )
     select * from removed`,
    [
      ...namesAsArrays(posts),
      settled,
      posts.map((post) => post.platform),
      posts.map((post) => post.key),
      posts.map((post) => post.day),
      posts.map((post) => post.platformPostId),
      textArray(posts.map((post) => JSON.stringify(post.payload))),
    ],
  );
  return toRemoved(rows);
}

/** The positions that were reserved for a batch. */
interface ReservedPositions {
  readonly ticket: number;
  /** The first reserved position follows this one. */
  readonly before: number;
  /** Text, to keep the microseconds. */
  readonly at: string;
}

/**
 * Positions are reserved with a sequence ticket and the time, so time never decreases along positions. Writers insert
 * their matches concurrently. `take_turn` then waits for all earlier tickets, so a reader that has seen a position
 * has seen all earlier ones (I3; migrations/0006_matches.sql). Until the commit, other writers wait. So shared rows
 * are summed before and written in that short time.
 */
async function insertMatches(
  sql: Sql,
  matches: readonly NewMatch[],
  { traces, storyItems }: Pick<MatchBatch, 'traces' | 'storyItems'>,
): Promise<StoredBatch> {
  const [log] = await sql.prepared<ReservedPositions>(
    'select ticket, before, at::text from take_positions($1)',
    [matches.length],
  );
  if (log === undefined) throw new Error('take_positions returned no row');
  const stored = await insertRows(sql, matches, log);
  const sums = sumUp(stored, log);
  await sql.prepared('select take_turn($1, $2, $3)', [log.ticket, log.before, matches.length]);
  if (sums.length > 0) {
    await addUsage(sql, sums, log.at);
    await moveHeads(sql, sums);
    await moveDayHeads(sql, sums);
    await writeStories(sql, storyMatches(stored, storyItems, log), log.at);
  }
  await sql.prepared('select note_match_times($1, $2, $3)', [log.at, log.before, matches.length]);
  const counts: Record<string, number> = {};
  for (const { match } of stored) counts[match.platform] = (counts[match.platform] ?? 0) + 1;
  return { counts, traced: traces === null ? [] : tracedPositions(traces, stored, log) };
}

interface StoredMatch {
  readonly match: NewMatch;
  readonly nth: number;
}

/** In the order of the log. */
function storyMatches(
  stored: readonly StoredMatch[],
  storyItems: ReadonlyMap<string, StoryItem>,
  { before }: ReservedPositions,
) {
  return stored
    .flatMap(({ match: { accountId, ruleId, platform, eventKey, eventDay: day }, nth }) => {
      const item = storyItems.get(nameOf(platform, eventKey));
      return item ? [{ position: before + nth, accountId, ruleId, platform, day, item }] : [];
    })
    .toSorted((one, other) => one.position - other.position);
}

/** Returns the new matches. `nth` counts the reserved positions. */
async function insertRows(
  sql: Sql,
  matches: readonly NewMatch[],
  { before, at }: ReservedPositions,
): Promise<StoredMatch[]> {
  const rows = await sql.prepared<{ nth: number }>(
    `insert into matches
       (position, account_id, rule_id, rule_version, platform, event_key, event_day, via, created_at, item_at)
     select $1 + nth, account_id, rule_id, rule_version, platform, event_key, event_day, via, $2, least(coalesce(item_at, $2), $2)
     from unnest($3::text[], $4::text[], $5::integer[], $6::text[], $7::text[], $8::date[], $9::text[], $10::timestamptz[])
       with ordinality as given (account_id, rule_id, rule_version, platform, event_key, event_day, via, item_at, nth)
     on conflict do nothing
     returning position - $1 as nth`,
    [
      before,
      at,
      matches.map((match) => match.accountId),
      matches.map((match) => match.ruleId),
      matches.map((match) => match.ruleVersion),
      matches.map((match) => match.platform),
      matches.map((match) => match.eventKey),
      matches.map((match) => match.eventDay),
      matches.map((match) => match.via),
      matches.map((match) => match.itemAt),
    ],
  );
  return rows.flatMap(({ nth }) => {
    const match = matches[nth - 1];
    return match ? [{ match, nth }] : [];
  });
}

function tracedPositions(
  traces: Traces,
  stored: readonly StoredMatch[],
  { before }: ReservedPositions,
): TracedPosition[] {
  return stored
    .filter(({ match }) => traces.isTraced(match.platform, match.eventKey))
    .map(({ match, nth }) => ({ position: before + nth, ruleId: match.ruleId, eventKey: match.eventKey }));
}

/** New matches of a rule, by platform and day. */
interface Sum extends Pick<NewMatch, 'accountId' | 'ruleId' | 'platform' | 'eventDay'> {
  readonly first: number;
  last: number;
  matches: number;
  items: number;
  users: number;
  posts: number;
}

function sumUp(stored: readonly StoredMatch[], { before }: ReservedPositions): Sum[] {
  const sums = new Map<string, Sum>();
  for (const { match, nth } of stored.toSorted((one, other) => one.nth - other.nth)) {
    const { accountId, ruleId, platform, eventDay, cost } = match;
    const position = before + nth;
    const key = `${ruleId} ${platform} ${eventDay}`;
    const sum = sums.get(key) ?? {
      accountId,
      ruleId,
      platform,
      eventDay,
      first: position,
      last: position,
      matches: 0,
      items: 0,
      users: 0,
      posts: 0,
    };
    sum.last = position;
    sum.matches += 1;
    sum.items += cost.part;
    sum.users += cost.part * cost.users;
    sum.posts += cost.part * cost.posts;
    sums.set(key, sum);
  }
  return [...sums.values()];
}

async function addUsage(sql: Sql, sums: readonly Sum[], at: string): Promise<void> {
  await sql.prepared(
    `insert into usage (account_id, rule_id, platform, day, matches, last_match_at, items, users, referenced_posts)
     select account_id, rule_id, platform, ($1::timestamptz at time zone 'UTC')::date, sum(matches), $1, sum(items), sum(users), sum(posts)
     from unnest($2::text[], $3::text[], $4::text[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[])
       as given (account_id, rule_id, platform, matches, items, users, posts)
     group by account_id, rule_id, platform
     on conflict (rule_id, platform, day) do update
       set matches = usage.matches + excluded.matches, last_match_at = excluded.last_match_at,
         items = usage.items + excluded.items, users = usage.users + excluded.users,
         referenced_posts = usage.referenced_posts + excluded.referenced_posts`,
    [
      at,
      sums.map((sum) => sum.accountId),
      sums.map((sum) => sum.ruleId),
      sums.map((sum) => sum.platform),
      sums.map((sum) => sum.matches),
      sums.map((sum) => sum.items),
      sums.map((sum) => sum.users),
      sums.map((sum) => sum.posts),
    ],
  );
}

async function moveHeads(sql: Sql, sums: readonly Sum[]): Promise<void> {
  await sql.prepared(
    `insert into heads (account_id, rule_id, platform, last_position)
     select account_id, coalesce(rule_id, ''), platform, max(last)
     from unnest($1::text[], $2::text[], $3::text[], $4::bigint[]) as given (account_id, rule_id, platform, last)
     group by grouping sets ((account_id, rule_id, platform), (account_id, platform))
     on conflict (account_id, rule_id, platform) do update set last_position = excluded.last_position`,
    [
      sums.map((sum) => sum.accountId),
      sums.map((sum) => sum.ruleId),
      sums.map((sum) => sum.platform),
      sums.map((sum) => sum.last),
    ],
  );
}

async function moveDayHeads(sql: Sql, sums: readonly Sum[]): Promise<void> {
  await sql.prepared(
    `insert into day_heads (account_id, rule_id, platform, event_day, first_position, last_position, matches)
     select account_id, coalesce(rule_id, ''), platform, event_day, min(first), max(last), sum(matches)
     from unnest($1::text[], $2::text[], $3::text[], $4::date[], $5::bigint[], $6::bigint[], $7::bigint[])
       as given (account_id, rule_id, platform, event_day, first, last, matches)
     group by grouping sets ((account_id, rule_id, platform, event_day), (account_id, platform, event_day))
     on conflict (account_id, rule_id, platform, event_day) do update
       set last_position = excluded.last_position, matches = day_heads.matches + excluded.matches`,
    [
      sums.map((sum) => sum.accountId),
      sums.map((sum) => sum.ruleId),
      sums.map((sum) => sum.platform),
      sums.map((sum) => sum.eventDay),
      sums.map((sum) => sum.first),
      sums.map((sum) => sum.last),
      sums.map((sum) => sum.matches),
    ],
  );
}
