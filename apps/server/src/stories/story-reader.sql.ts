import { type Platform, type Story, storyCountMax, storyMembersMax } from '@earshot/contract';
import type { Database, Sql } from '../engines/database.ts';
import { matchIdOf, storyIdOf } from '../runtime/ids.ts';

/** The matches among which each story is listed once. */
export interface StoryRange {
  readonly ruleIds: readonly string[] | null;
  readonly platform: Platform | null;
  readonly since: Date | null;
  readonly until: Date | null;
  readonly order: 'newest' | 'oldest';
  /** Positions behind this one. */
  readonly after: number;
  /** Positions up to this one. */
  readonly through: number;
}

/** A match in its story, as the range has it. */
export interface StoryPlace {
  readonly position: number;
  /** Counted from 1 in the order of the range; null if the match is beyond what is counted. */
  readonly nth: number | null;
  readonly story: Story;
}

interface PlaceRow {
  readonly position: number;
  readonly root: number;
  readonly nth: number | null;
  readonly because: Story['because'];
  readonly matches: number;
  readonly platforms: Story['platforms'];
  readonly first_at: Date;
  readonly last_at: Date;
  readonly members: ReadonlyArray<{
    readonly position: number;
    readonly rule_id: string;
    readonly platform: Platform;
    readonly because: Story['because'];
    readonly at_ms: number;
  }>;
}

/** SQL: stories with those that have merged into them. `roots` has one column, `root`. */
const partsOf = (roots: string) => `select distinct root, root as id from ${roots}
  union select roots.root, stories.id from (select distinct root from ${roots}) as roots
  join stories on stories.merged_into = roots.root`;

/** SQL: why a match is in its story now. */
const becauseOf = (table: string) =>
  `case when ${table}.because = 'first' and ${table}.story_id <> root then 'merged' else ${table}.because end`;

/** SQL: rules whose matches are listed. Matches of other rules are purged. */
const listedRules = `array(select id from rules where account_id = $1 and state not in ('creating', 'deleted'))`;

/** SQL: members in a range, whose values are `$3` to `$8`. */
const isInRange = `position > $3 and position <= $4 and ($5::text[] is null or rule_id = any($5)) and rule_id = any(${listedRules})
       and ($6::text is null or platform = $6)
       and ($7::timestamptz is null or created_at >= $7) and ($8::timestamptz is null or created_at < $8)`;
const valuesOf = ({ after, through, ruleIds, platform, since, until }: StoryRange) => [
  after,
  through,
  ruleIds,
  platform,
  since,
  until,
];
const directionOf = (order: StoryRange['order']) => (order === 'newest' ? 'desc' : 'asc');

/** Places of matches that share a story with others. Matches that are alone are not in the result. */
export async function readPlaces(
  database: Pick<Database, 'forAccount'>,
  accountId: string,
  positions: readonly number[],
  range: StoryRange,
): Promise<Map<number, StoryPlace>> {
  const direction = directionOf(range.order);
  const rows = await database.forAccount(accountId).prepared<PlaceRow>(
    `with entries as materialized (
       select position, because, story_id, coalesce(stories.merged_into, story_id) as root
       from story_members left join stories on stories.id = story_id
       where story_members.account_id = $1 and position = any($2::bigint[])
     ), parts as (${partsOf('entries')}), found as materialized (
       select root, members.* from parts cross join lateral (
         select position, story_id, rule_id, platform, created_at, because from story_members
         where story_id = parts.id and account_id = $1 and ${isInRange}
         order by position ${direction} limit $9
       ) as members
     ), ranked as (
       select *, row_number() over (partition by root order by position ${direction}) as nth,
         row_number() over (partition by root order by position desc) as age
       from found
     ), described as (
       select root, least(count(*), $9) as matches, min(created_at) as first_at, max(created_at) as last_at,
         json_agg(json_build_object('position', position, 'rule_id', rule_id, 'platform', platform, 'because', ${becauseOf('ranked')},
           'at_ms', extract(epoch from created_at) * 1000) order by age) filter (where age <= $10) as members
       from ranked group by root
     ), platforms as (
       select root, json_object_agg(platform, count) as platforms
       from (select root, platform, count(*) as count from found group by root, platform) as counted group by root
     )
     select entries.position, root, ranked.nth, ${becauseOf('entries')} as because,
       matches, platforms, first_at, last_at, members
     from entries join described using (root) join platforms using (root)
     left join ranked using (root, position)`,
    [accountId, positions, ...valuesOf(range), storyCountMax, storyMembersMax],
  );
  return new Map(rows.map((row) => [row.position, toPlace(row)]));
}

function toPlace({ position, root, nth, because: reason, ...row }: PlaceRow): StoryPlace {
  const { matches, platforms, first_at, last_at, members } = row;
  const story: Story = {
    id: storyIdOf(root),
    matches,
    platforms,
    first_at: first_at.toISOString(),
    last_at: last_at.toISOString(),
    because: reason,
    members: members.map(({ at_ms, position: own, ...member }) => ({
      match_id: matchIdOf(own),
      ...member,
      created_at: new Date(at_ms).toISOString(),
    })),
  };
  return { position, nth, story };
}

/** The first matches of the story of a match, in the order of the range. */
export async function readFirst(
  database: Pick<Database, 'forAccount'>,
  accountId: string,
  position: number,
  { range, limit }: { readonly range: StoryRange; readonly limit: number },
): Promise<number[]> {
  const rows = await database.forAccount(accountId).prepared<{ position: number }>(
    `with entries as (
       select coalesce(stories.merged_into, story_id) as root
       from story_members left join stories on stories.id = story_id
       where story_members.account_id = $1 and position = $2
     ), parts as (${partsOf('entries')}) ${selectMembers(range)}`,
    [accountId, position, ...valuesOf(range), limit],
  );
  return rows.map((row) => row.position);
}

/** SQL: the members of `parts` in a range, whose values are `$3` to `$8`. */
const selectMembers = ({
  order,
}: StoryRange) => `select position from parts join story_members on story_id = parts.id
     where account_id = $1 and ${isInRange} order by position ${directionOf(order)} limit $9`;

export interface StoryPage {
  readonly positions: readonly number[];
  readonly more: boolean;
  /** The story is a match, if the account has it. */
  readonly isAlone: boolean;
}

/**
 * Positions of the matches of a story, in the order of the range, behind `from`. Null if the account has no such story. A match that is
 * alone is its own story.
 */
export async function readStory(
  sql: Pick<Sql, 'prepared'>,
  accountId: string,
  storyId: number,
  { range, limit }: { readonly range: StoryRange; readonly limit: number },
): Promise<StoryPage | null> {
  const { after, through } = range;
  const [row] = await sql.prepared<{ known: boolean; is_member: boolean; positions: number[] | null }>(
    `with entries as (
       select coalesce(merged_into, id) as root from stories where account_id = $1 and id = $2
     ), parts as (${partsOf('entries')}), found as (${selectMembers(range)})
     select exists (select from entries) as known, exists (select from story_members where account_id = $1 and position = $2) as is_member,
       (select json_agg(position) from found) as positions`,
    [accountId, storyId, ...valuesOf(range), limit],
  );
  if (row?.known) {
    const positions = row.positions ?? [];
    return { positions, more: positions.length === limit, isAlone: false };
  }
  if (!row || row.is_member) return null;
  return { positions: storyId > after && storyId <= through ? [storyId] : [], more: false, isAlone: true };
}
