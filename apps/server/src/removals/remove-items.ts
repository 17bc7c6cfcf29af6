import { type Platform, platforms, type Removal } from '@earshot/contract';
import type { Bells } from '../engines/bells.ts';
import { type Database, type Sql, untilNothingIsInTheWay } from '../engines/database.ts';
import { readEvent } from '../event-log/event-consumer.ts';
import type { LogEvent } from '../event-log/event-log.ts';
import { createMatchStore, type ItemName, isNameable, namesOf } from '../matching/match-store.sql.ts';
import type { Telemetry } from '../observability/telemetry.ts';
import type { Compliance } from '../upstream/platform.ts';
import { UpstreamUnavailable } from '../upstream/upstream-rules.ts';
import { takeOutOfBatches } from '../webhooks/webhooks.sql.ts';

/*
 * Items that are taken back. First a tombstone, so that nothing brings the item back; then, in small transactions, its matches: each
 * leaves a removal, at a new position of the match log, which every reader is told in its turn. The item itself goes with the last
 * of its matches.
 */

/** Whose matches are looked for at once, under each rule of the day. */
const itemsAtOnceMax = 100;
/** Of one transaction, which keeps all writers of matches waiting. */
const matchesAtOnceMax = 5_000;
const postsAtOnceMax = 10_000;
const lettersAtOnceMax = 1_000;

type Reason = Removal['reason'];

export interface Removed {
  readonly items: number;
  readonly matches: number;
}

interface ItemKey {
  readonly platform: Platform;
  readonly eventKey: string;
}

/**
 * From here on nothing with these names is stored; what is stored already is visible to whoever asks next. Returns the time up to
 * which an author's items are meant.
 */
export async function recordTombstones(
  database: Database,
  names: readonly ItemName[],
  { on, reason }: { on: readonly Platform[]; reason: Reason },
): Promise<Date> {
  return await database.transaction(async (sql) => {
    await sql.run('lock table tombstones in exclusive mode');
    const row = await sql.one<{ at: Date }>(
      `with now as materialized (select clock_timestamp() as at), recorded as (
         insert into tombstones (platform, kind, value, reason, at)
         select platform, kind, value, $4, now.at
         from now, unnest($1::text[]) as platform, unnest($2::text[], $3::text[]) as named (kind, value)
         on conflict (platform, kind, value) do update set reason = excluded.reason, at = excluded.at
       )
       select at from now`,
      [on, names.map(({ kind }) => kind), names.map(({ value }) => value), reason],
    );
    return row?.at ?? new Date();
  });
}

/** Removes stored items of one day that have a tombstone, and their matches. */
async function removeItems(
  database: Database,
  day: string,
  { items, reason }: { items: readonly ItemKey[]; reason: Reason },
): Promise<Removed> {
  const sum = { items: 0, matches: 0 };
  for (const [platform, its] of Map.groupBy(items, (item) => item.platform)) {
    for (let from = 0; from < its.length; from += itemsAtOnceMax) {
      const keys = its.slice(from, from + itemsAtOnceMax).map(({ eventKey }) => eventKey);
      for (let isDone = false; !isDone; ) {
        // The purge of deleted rules removes matches in another order: one of the two is rolled back.
        const step = await untilNothingIsInTheWay(() =>
          database.transaction((sql) => removeSome(sql, { day, platform, keys, reason })),
        );
        sum.items += step.items;
        sum.matches += step.matches;
        isDone = step.isDone;
      }
    }
  }
  return sum;
}

interface Doomed {
  readonly day: string;
  readonly platform: Platform;
  readonly keys: readonly string[];
  readonly reason: Reason;
}

/**
 * Positions are taken with a ticket, and committed in its turn, as those of matches (matching/match-store.sql.ts). The matches of an item are
 * looked for under each rule that has some on that day: the index by rule is the one there is. The inner limit makes it that look-up.
 */
async function removeSome(
  sql: Sql,
  { day, platform, keys, reason }: Doomed,
): Promise<Removed & { isDone: boolean }> {
  const gone = await sql.many<{ accountId: string; position: number }>(
    `with doomed as materialized (
       select found.rule_id, found.event_key from day_heads cross join lateral (
         select rule_id, event_key from matches where matches.rule_id = day_heads.rule_id
           and matches.event_day = $1 and matches.event_key = any($2) and matches.platform = $3 limit $4
       ) as found
       where day_heads.event_day = $1 and day_heads.platform = $3 and day_heads.rule_id <> '' limit $4
     ), gone as (
       delete from matches using doomed
       where matches.event_day = $1 and matches.rule_id = doomed.rule_id and matches.event_key = doomed.event_key
       returning matches.position, matches.account_id, matches.rule_id
     ), counted as (
       select count(*) as matches from gone
     ), log as materialized (
       select taken.* from counted, take_positions(counted.matches) as taken where counted.matches > 0
     ), told as (
       insert into removals (position, match_position, account_id, rule_id, platform, reason, created_at)
       select log.before + row_number() over (order by gone.position), gone.position, gone.account_id, gone.rule_id, $3, $5,
         log.at
       from log, gone join rules on rules.id = gone.rule_id and rules.state <> 'deleted'
       returning position, account_id, rule_id
     ), turn as materialized (
       select take_turn(log.ticket, log.before, counted.matches) from log, counted where (select count(*) from told) >= 0
     ), headed as (
       insert into heads (account_id, rule_id, platform, last_position)
       select account_id, coalesce(rule_id, ''), $3, max(position)
       from turn, told group by grouping sets ((account_id, rule_id), (account_id))
       on conflict (account_id, rule_id, platform) do update set last_position = excluded.last_position
     )
     select account_id as "accountId", position from gone where (select count(*) from turn) >= 0`,
    [day, keys, platform, matchesAtOnceMax, reason],
  );
  if (gone.length > 0) await takeOutOfBatches(sql, gone);
  const isDone = gone.length < matchesAtOnceMax;
  const items = isDone
    ? await sql.run('delete from posts where event_day = $1 and platform = $2 and event_key = any($3)', [
        day,
        platform,
        keys,
      ])
    : 0;
  return { items, matches: gone.length, isDone };
}

/** What an operator asks to be forgotten: one item by its id or URL, or an author by id or handle. */
export type Asked =
  | { readonly post: string }
  | { readonly url: string }
  /** With `@` the handle; digits alone are an id; anything else may be either. */
  | { readonly author: string };

export interface Progress extends Removed {
  readonly day: string;
}

/**
 * Looks through everything that is stored, one page after the other: no index leads from an author or a URL to items, and asking is
 * too rare to keep one. What waits in the event log is not looked through: the tombstone keeps it from being stored.
 */
export async function forget(
  database: Database,
  asked: Asked,
  onProgress: (progress: Progress) => void = () => undefined,
): Promise<Removed> {
  const sum = { items: 0, matches: 0 };
  const names = toNames(asked);
  // Grows: a handle leads to the author's id, under which there may be items with an older handle.
  for (const name of names) {
    const until = await recordTombstones(database, [name], { on: platforms, reason: 'forgotten' });
    const isMeant = (item: Named) => hasName(item, name, until);
    for (const day of [...(await createMatchStore(database).days())].toSorted()) {
      for await (const found of findItems(database, day, { name, isMeant })) {
        for (const { payload } of found) addAuthor(names, name, payload.author?.id);
        const items = found.map(({ platform, key }) => ({ platform, eventKey: key }));
        const removed = await removeItems(database, day, { items, reason: 'forgotten' });
        sum.items += removed.items;
        sum.matches += removed.matches;
        onProgress({ day, ...sum });
      }
    }
    await removeDeadLetters(database, name, isMeant);
  }
  return sum;
}

function toNames(asked: Asked): ItemName[] {
  if ('post' in asked) return [{ kind: 'item', value: asked.post }];
  if ('url' in asked) return [{ kind: 'item', value: asked.url }];
  const { author } = asked;
  const handle = `@${author.replace(/^@/, '').toLowerCase()}`;
  const values = author.startsWith('@') ? [handle] : /^\d+$/.test(author) ? [author] : [author, handle];
  return values.map((value) => ({ kind: 'author', value }));
}

function addAuthor(names: ItemName[], { kind, value }: ItemName, id: string | undefined): void {
  if (kind !== 'author' || !value.startsWith('@') || id === undefined) return;
  if (!names.some((name) => name.value === id)) names.push({ kind, value: id });
}

type Named = Pick<LogEvent, 'platform' | 'key' | 'platformPostId' | 'payload'>;

/** As the match transaction decides it. */
function hasName(item: Named, { kind, value }: ItemName, until: Date): boolean {
  if (kind === 'author' && Date.parse(item.payload.published_at ?? '') > until.getTime()) return false;
  return namesOf(item).some((name) => name.kind === kind && name.value === value);
}

interface Search {
  readonly name: ItemName;
  readonly isMeant: (item: Named) => boolean;
}

interface PostRow {
  platform: Platform;
  event_key: string;
  platform_post_id: string;
  payload: string | null;
}

/** Pages of a day's items; those without the name anywhere in them are not even read. */
async function* findItems(database: Database, day: string, search: Search): AsyncGenerator<Named[]> {
  const { words, has } = occurrencesOf(search.name);
  let after = ['', ''];
  for (;;) {
    const rows = await database.many<PostRow>(
      `select platform, event_key, platform_post_id,
         case when platform_post_id = $6 or ${has('payload', '$5')} then payload end as payload
       from posts where event_day = $1 and (event_key, platform) > ($2, $3) order by event_key, platform limit $4`,
      [day, ...after, postsAtOnceMax, words, search.name.value],
    );
    const items = rows.flatMap(({ payload, ...row }): Named[] => {
      if (payload === null) return [];
      const { platform, event_key: key, platform_post_id: platformPostId } = row;
      return [{ platform, key, platformPostId, payload: JSON.parse(payload) }];
    });
    const found = items.filter(search.isMeant);
    if (found.length > 0) yield found;
    const last = rows.at(-1);
    if (!last || rows.length < postsAtOnceMax) return;
    after = [last.event_key, last.platform];
  }
}

/** What stands in the JSON of every item with the name, and how SQL finds it. Handles may be written in any case. */
function occurrencesOf({ kind, value }: ItemName) {
  const isHandle = kind === 'author' && value.startsWith('@');
  return {
    words: JSON.stringify(isHandle ? value.slice(1) : value).slice(1, -1),
    has: (column: string, words: string) =>
      `strpos(${isHandle ? `lower(${column})` : column}, ${words}::text) > 0`,
  };
}

/** Also those that are no events any more, as far as the name stands in them. */
async function removeDeadLetters(
  database: Database,
  name: ItemName,
  isMeant: Search['isMeant'],
): Promise<void> {
  const { words, has } = occurrencesOf(name);
  let after = 0;
  for (;;) {
    const letters = await database.many<{ id: number; body: string }>(
      `select id, body from dead_letters where id > $1 and ${has('body', '$2')} order by id limit $3`,
      [after, words, lettersAtOnceMax],
    );
    for (const { id, body } of letters) {
      const event = readEvent(body);
      const isKept = isNameable(event) && !isMeant(event);
      if (!isKept) await database.run('delete from dead_letters where id = $1', [id]);
    }
    const last = letters.at(-1);
    if (!last || letters.length < lettersAtOnceMax) return;
    after = last.id;
  }
}

export interface CheckKeptItemsOptions {
  readonly database: Database;
  readonly bells: Bells;
  readonly platform: Platform;
  readonly compliance: Compliance;
  readonly telemetry: Pick<Telemetry, 'complianceCheckPutOff' | 'keptItemsChecked'>;
}

/**
 * Once a day: asks the platform about everything of it that is kept, and removes what is gone there. Who dies half-way, or is refused,
 * begins anew the next time.
 */
export async function checkKeptItems(options: CheckKeptItemsOptions, signal: AbortSignal): Promise<void> {
  const { database, bells, platform, compliance, telemetry } = options;
  const done = await database.one(
    `select 1 from compliance_checks where platform = $1 and completed_at > now() - interval '1 day'`,
    [platform],
  );
  if (done) return;
  const sum = { asked: 0, items: 0, matches: 0 };
  try {
    for await (const kept of keptItems(database, platform, compliance.idsMax)) {
      const gone = await compliance.check([...new Set(kept.map(({ id }) => id))], signal);
      const removed = await removeGone(options, kept, gone);
      sum.asked += kept.length;
      sum.items += removed.items;
      sum.matches += removed.matches;
      if (removed.matches > 0) bells.ring('matches');
    }
  } catch (error) {
    if (signal.aborted) return;
    if (!(error instanceof UpstreamUnavailable)) throw error;
    telemetry.complianceCheckPutOff({ platform, err: error });
    return;
  }
  await database.run(
    `insert into compliance_checks (platform, completed_at) values ($1, now())
     on conflict (platform) do update set completed_at = excluded.completed_at`,
    [platform],
  );
  telemetry.keptItemsChecked({ platform, ...sum });
}

interface KeptItem {
  readonly day: string;
  readonly eventKey: string;
  readonly id: string;
}

async function removeGone(
  { database, platform }: CheckKeptItemsOptions,
  kept: readonly KeptItem[],
  gone: Awaited<ReturnType<Compliance['check']>>,
): Promise<Removed> {
  const sum = { items: 0, matches: 0 };
  for (const [reason, its] of Map.groupBy(gone, (one) => one.reason)) {
    const ids = new Set(its.map(({ id }) => id));
    // The answer names nothing that was not asked about.
    const doomed = kept.filter(({ id }) => ids.has(id));
    const names = [...new Set(doomed.map(({ id }) => id))].map(
      (value): ItemName => ({ kind: 'item', value }),
    );
    if (names.length > 0) await recordTombstones(database, names, { on: [platform], reason });
    for (const [day, items] of Map.groupBy(doomed, (item) => item.day)) {
      const keys = items.map(({ eventKey }) => ({ platform, eventKey }));
      const removed = await removeItems(database, day, { items: keys, reason });
      sum.items += removed.items;
      sum.matches += removed.matches;
    }
  }
  return sum;
}

/** Everything that is kept of a platform, in parts of at most so many items. */
async function* keptItems(
  database: Database,
  platform: Platform,
  atOnceMax: number,
): AsyncGenerator<KeptItem[]> {
  let part: KeptItem[] = [];
  for (const day of [...(await createMatchStore(database).days())].toSorted()) {
    for (let after = '', isDone = false; !isDone; ) {
      const limit = Math.min(postsAtOnceMax, atOnceMax - part.length);
      const rows = await database.many<{ event_key: string; platform_post_id: string }>(
        `select event_key, platform_post_id from posts
         where event_day = $1 and platform = $2 and event_key > $3 order by event_key limit $4`,
        [day, platform, after, limit],
      );
      part.push(...rows.map((row) => ({ day, eventKey: row.event_key, id: row.platform_post_id })));
      after = rows.at(-1)?.event_key ?? after;
      isDone = rows.length < limit;
      if (part.length < atOnceMax) continue;
      yield part;
      part = [];
    }
  }
  if (part.length > 0) yield part;
}
