import { recentMs } from './spending.ts';

/*
 * Parts of statements that count what a budget's rules have spent.
 */

/** SQL: the first day of a budget's period, as `periodAt` computes it; `budget` is a column. */
export function periodStart(budget: string): string {
  const today = `(now() at time zone 'UTC')::date`;
  return `case ${budget}->>'period' when 'day' then ${today}
    when 'month' then date_trunc('month', ${today})::date else '-infinity'::date end`;
}

/** SQL: when a rule first listened in the period that begins with a day. */
export function listeningSince(ruleId: string, firstDay: string): string {
  return `(select min(from_at) from watches where watches.rule_id = ${ruleId}
    and (to_at is null or to_at > (${firstDay})::timestamp at time zone 'UTC'))`;
}

/** Sums over rows of `usage`. */
export const sums = ['matches', 'items', 'users', 'referenced_posts'].map((name) => ({
  name,
  sum: `coalesce(sum(usage.${name}), 0)::bigint`,
}));

/** The length of the interval of a row in `match_times`. */
const bucketMs = 10_000;

/** The first position of the interval in which the last minute began. The rate is rather too high than too low. */
const recentPosition = `(select first_position from match_times
  where began > now() - interval '${recentMs + bucketMs} ms' order by began limit 1)`;

/**
 * SQL: the number of matches of the last minute, beside the sums. Zero without a query if nothing matched in that time. Without
 * matches that a search found for a gap: they arrive at once, and say nothing about what still arrives.
 */
export function recentMatches(which: string): string {
  return `case when max(usage.last_match_at) > now() - interval '${recentMs} ms' then (
    select count(*) from matches where ${which} and via <> 'search' and position >= ${recentPosition}) else 0 end`;
}
