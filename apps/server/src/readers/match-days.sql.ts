import type { Platform } from '@earshot/contract';
import type { Sql } from '../engines/database.ts';

export interface MatchQuery {
  readonly accountId: string;
  /** Only matches of these rules, at least one; null: of every rule. */
  readonly ruleIds: readonly string[] | null;
  readonly platform: Platform | null;
  readonly since: Date | null;
  readonly until: Date | null;
  readonly order: 'newest' | 'oldest';
  /** Exclusive: continue behind this position, in the direction of `order`. */
  readonly from: number | null;
  readonly limit: number;
  /** Only the matches at these positions. */
  readonly positions?: readonly number[];
}

/** The requested matches in one partition, on one platform. */
export interface MatchDay {
  readonly platform: Platform;
  readonly day: string;
  readonly first: number;
  readonly last: number;
  /** Includes matches of rules that were deleted since. */
  readonly matches: number;
}

/** After `after`, up to and including `through`. */
export interface PositionRange {
  readonly after: number;
  readonly through: number;
}

export interface Places extends PositionRange {
  readonly days: readonly MatchDay[];
  /** Rules whose matches are not listed. */
  readonly hidden: readonly string[];
  /** Whether the account has removals after `after`. */
  readonly hasRemovals: boolean;
}

/** SQL: the days with matches of one rule, or of the account, which is the rule ''. */
const daysOfOne = 'day_heads where account_id = $1 and rule_id = $2';
const daysOfSeveral = `(
           select platform, event_day, min(first_position) as first_position, max(last_position) as last_position,
             sum(matches)::bigint as matches
           from day_heads where account_id = $1 and rule_id = any($2) group by platform, event_day
         ) as day_heads where true`;

/**
 * Finds where the matches of a query are, from the summaries of the match transaction: the positions of its period, and the days that
 * have matches in between. A page then reads only these partitions, and none if there are no matches.
 */
export async function findPlaces(sql: Sql, query: MatchQuery): Promise<Places> {
  const { accountId, ruleIds, platform, since, until, order, from } = query;
  const isOne = ruleIds === null || ruleIds.length === 1;
  const after = order === 'oldest' ? (from ?? 0) : 0;
  const through = order === 'newest' && from !== null ? from - 1 : Number.MAX_SAFE_INTEGER;
  const [row] = await sql.prepared<Places>(
    `with range as (
       select greatest($4::bigint, case when $6::timestamptz is not null then coalesce((
           select first_position - 1 from match_times
           where began >= began_of($6) order by began limit 1
         ), $5) end) as after,
         least($5::bigint, case when $7::timestamptz is not null then coalesce((
           select last_position from match_times
           where began <= began_of($7) order by began desc limit 1
         ), 0) end) as through
     )
     select after, through,
       array(select id from rules where account_id = $1 and state in ('creating', 'deleted')) as hidden,
       exists (select 1 from removals where account_id = $1 and position > $4) as "hasRemovals",
       (select coalesce(json_agg(json_build_object('platform', platform, 'day', event_day, 'first', first_position,
           'last', last_position, 'matches', matches)), '[]')
         from ${isOne ? daysOfOne : daysOfSeveral} and ($3::text is null or platform = $3)
           and last_position > after and first_position <= through) as days
     from range`,
    [accountId, isOne ? (ruleIds?.[0] ?? '') : ruleIds, platform, after, through, since, until],
  );
  return row ?? { after, through, days: [], hidden: [], hasRemovals: false };
}

/**
 * The part of the range that likely contains a page: the days next to its beginning that have enough matches together. Most pages need
 * one or two of a month's days.
 */
export function nearRange(
  { after, through, days }: Pick<Places, 'after' | 'through' | 'days'>,
  { order, limit }: Pick<MatchQuery, 'order' | 'limit'>,
): PositionRange {
  const whole = days.filter((day) => day.first > after && day.last <= through);
  const inOrder = whole.toSorted((a, b) => (order === 'newest' ? b.first - a.first : a.last - b.last));
  let matches = 0;
  for (const day of inOrder) {
    matches += day.matches;
    if (matches < limit) continue;
    return order === 'newest' ? { after: day.first - 1, through } : { after, through: day.last };
  }
  return { after, through };
}
