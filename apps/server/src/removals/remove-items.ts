import type { Platform, Removal } from '@earshot/contract';
import { type Database, type Sql, untilNothingIsInTheWay } from '../engines/database.ts';
import { takeOutOfBatches } from '../webhooks/webhooks.sql.ts';

/*
 * Items that are taken back. A tombstone comes first (tombstones.sql.ts), so that the item is not stored again. Its matches follow, in
 * small transactions: each leaves a removal, at a new position of the match log, which every reader gets in order. The item itself goes
 * with the last of its matches.
 */

/** Whose matches are looked for at once, under each rule of the day. */
const itemsAtOnceMax = 100;
/** Of one transaction, which keeps all writers of matches waiting. */
const matchesAtOnceMax = 5_000;

export interface Removed {
  readonly items: number;
  readonly matches: number;
}

interface ItemKey {
  readonly platform: Platform;
  readonly eventKey: string;
}

/** Removes stored items of one day that have a tombstone, and their matches. */
export async function removeItems(
  database: Database,
  day: string,
  { items, reason }: { items: readonly ItemKey[]; reason: Removal['reason'] },
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
  readonly reason: Removal['reason'];
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
