import type { Sql } from '../engines/database.ts';
import {
  assignStories,
  type KeyRow,
  type KnownKey,
  type MatchToAssign,
  type StoryChanges,
} from './assign-stories.ts';

/** A stored match, with what its members row repeats. */
export interface NewStoryMatch extends MatchToAssign {
  readonly ruleId: string;
  readonly platform: string;
}

/**
 * Assigns new matches to stories, in the transaction that stores them. Must run in commit order: no other writer changes
 * stories until the commit.
 */
export async function writeStories(
  sql: Sql,
  matches: readonly NewStoryMatch[],
  createdAt: string,
): Promise<void> {
  const keys = keysOf(matches);
  if (keys.length === 0) return;
  const changes = assignStories(await readKnown(sql, keys), matches);
  if (changes.keys.length > 0) await writeKeys(sql, changes.keys);
  if (changes.members.length > 0) await insertMembers(sql, changes, matches, createdAt);
}

interface AccountKey {
  readonly accountId: string;
  readonly key: string;
}

function keysOf(matches: readonly NewStoryMatch[]): AccountKey[] {
  const keys = new Map<string, AccountKey>();
  for (const { accountId, item } of matches)
    for (const { key } of item.keys) keys.set(`${accountId} ${key}`, { accountId, key });
  return [...keys.values()];
}

/** SQL: two accounts with the same item have different keys. */
const accountKey = 'given.key # hashtextextended(given.account_id, 0)';

interface KnownRow extends Omit<KnownKey, 'accountId' | 'key'> {
  readonly nth: number;
}

/** The inner limit makes it one index lookup per key. Only a number comes back: the driver would round the key. */
async function readKnown(sql: Sql, keys: readonly AccountKey[]): Promise<KnownKey[]> {
  const rows = await sql.prepared<KnownRow>(
    `select nth, coalesce(latest.id, own.id, known.story_id) as "storyId", own.id is not null as "isStored",
       extract(epoch from coalesce(latest.last_at, own.last_at, known.at))::float8 * 1000 as "lastAtMs",
       (known.at at time zone 'UTC')::date::text as day
     from unnest($1::text[], $2::bigint[]) with ordinality as given (account_id, key, nth)
     cross join lateral (
       select story_id, at from story_keys
       where story_keys.key = ${accountKey} and story_keys.account_id = given.account_id limit 1
     ) as known
     left join lateral (select * from stories where id = known.story_id limit 1) as own on true
     left join lateral (select * from stories where id = own.merged_into limit 1) as latest on true`,
    [arrayOf(keys, 'accountId'), arrayOf(keys, 'key')],
  );
  return rows.flatMap(({ nth, ...row }) => {
    const key = keys[nth - 1];
    return key ? [{ ...key, ...row, lastAtMs: Math.round(row.lastAtMs) }] : [];
  });
}

/** No other writer inserts a key between `readKnown` and this. If a hash is that of another account's key, the item has one key less. */
async function writeKeys(sql: Sql, keys: readonly KeyRow[]): Promise<void> {
  const given = `unnest($1::bigint[], $2::bigint[], $3::float8[], $4::text[]) as given (key, story_id, at_ms, account_id)`;
  const write = (statement: string, rows: readonly KeyRow[]) =>
    rows.length > 0 &&
    sql.prepared(statement, [
      arrayOf(rows, 'key'),
      arrayOf(rows, 'storyId'),
      arrayOf(rows, 'atMs'),
      arrayOf(rows, 'accountId'),
    ]);
  await write(
    `insert into story_keys (key, story_id, at, account_id)
     select ${accountKey}, story_id, to_timestamp(at_ms / 1000.0), account_id from ${given} on conflict do nothing`,
    keys.filter(({ isTaken }) => !isTaken),
  );
  await write(
    `update story_keys set story_id = given.story_id, at = to_timestamp(at_ms / 1000.0) from ${given}
     where story_keys.key = ${accountKey} and story_keys.account_id = given.account_id`,
    keys.filter(({ isTaken }) => isTaken),
  );
}

/** A first match that was removed in the meantime is not found, and does not become a member. */
async function insertMembers(
  sql: Sql,
  { stories, members, begun }: StoryChanges,
  matches: readonly NewStoryMatch[],
  createdAt: string,
): Promise<void> {
  const byPosition = new Map(matches.map((match) => [match.position, match]));
  const joined = members.flatMap((member) => {
    const match = byPosition.get(member.position);
    return match ? [{ ...match, ...member }] : [];
  });
  // Each day is named in the text: PostgreSQL would plan a statement over all days anew every time.
  const days = [...Map.groupBy(begun, ({ day }) => day)].filter(([day]) => /^\d{4}-\d\d-\d\d$/.test(day));
  const firsts = days.map(
    ([day], index) =>
      `select position, position, account_id, rule_id, platform, event_day, created_at, 'first' from matches
       where event_day = date '${day}' and position = any($${index + 13}::bigint[])
       union all`,
  );
  await sql.prepared(
    `with changed as (
       select * from unnest($1::bigint[], $2::text[], $3::float8[], $4::bigint[]) as given (id, account_id, last_ms, merged_into)
     ), written as (
       insert into stories (id, account_id, last_at, merged_into)
       select id, account_id, to_timestamp(last_ms / 1000.0), merged_into from changed
       on conflict (id) do update set last_at = excluded.last_at, merged_into = excluded.merged_into
     )
     insert into story_members (position, story_id, account_id, rule_id, platform, event_day, created_at, because)
     ${firsts.join('\n')}
     select position, story_id, account_id, rule_id, platform, event_day, $5::timestamptz, because
     from unnest($6::bigint[], $7::bigint[], $8::text[], $9::text[], $10::text[], $11::date[], $12::text[])
       as given (position, story_id, account_id, rule_id, platform, event_day, because)`,
    [
      arrayOf(stories, 'id'),
      arrayOf(stories, 'accountId'),
      arrayOf(stories, 'lastAtMs'),
      arrayOf(stories, 'mergedInto'),
      createdAt,
      arrayOf(joined, 'position'),
      arrayOf(joined, 'storyId'),
      arrayOf(joined, 'accountId'),
      arrayOf(joined, 'ruleId'),
      arrayOf(joined, 'platform'),
      arrayOf(joined, 'day'),
      arrayOf(joined, 'because'),
      ...days.map(([, its]) => arrayOf(its, 'storyId')),
    ],
  );
  const merged = stories.filter(({ mergedInto }) => mergedInto !== null);
  if (merged.length === 0) return;
  await sql.prepared(
    `update stories set merged_into = given.merged_into from unnest($1::bigint[], $2::bigint[]) as given (id, merged_into)
     where stories.merged_into = given.id`,
    [arrayOf(merged, 'id'), arrayOf(merged, 'mergedInto')],
  );
}

/**
 * An array of PostgreSQL. Ids, names and numbers need no quotation marks; the driver would check each of them, which takes longer than
 * everything else here.
 */
function arrayOf<Row>(rows: readonly Row[], name: keyof Row): string {
  return `{${rows.map((row) => row[name] ?? 'null').join(',')}}`;
}

/** Longer than the window, for items that a repair delivers late. */
const keysKeptHours = 72 + 48;
const rowsAtOnceMax = 20_000;

/** Removes keys that are out of their window, and what retention has left of stories. */
export async function removeOldStories(
  sql: Sql,
  { newest, retentionDays }: { readonly newest: string; readonly retentionDays: number },
): Promise<void> {
  const isBefore = (time: string, kept: string) =>
    `${time} < least($1::date::timestamp, now() at time zone 'UTC') at time zone 'UTC' - ${kept}`;
  const old = isBefore('at', `interval '${keysKeptHours} hours'`);
  const oldKeys = `delete from story_keys where ctid = any(array(select ctid from story_keys
    where ${old} and not exists (
      select 1 from stories own left join stories latest on latest.id = own.merged_into
      where own.id = story_id and not ${isBefore('coalesce(latest.last_at, own.last_at)', `interval '${keysKeptHours} hours'`)}
    ) limit ${rowsAtOnceMax}))`;
  while ((await sql.run(oldKeys, [newest])) === rowsAtOnceMax);
  await sql.run(
    `delete from story_members where event_day < least($1::date, (now() at time zone 'UTC')::date) - $2::integer`,
    [newest, retentionDays],
  );
  await sql.run(
    `delete from stories where ${isBefore('last_at', 'make_interval(days => $2::integer + 1)')}
       and not exists (select 1 from story_members where story_id = stories.id)`,
    [newest, retentionDays],
  );
}
