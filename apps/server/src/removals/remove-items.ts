import type { Platform, Removal } from '@earshot/contract';
import { type Database, retryOnConflict, type Sql } from '../engines/database.ts';
import { takeOutOfBatches } from '../webhooks/webhooks.sql.ts';

/*
 * Removal of items. First a tombstone is written (tombstones.sql.ts), so that the item is not stored again. Its matches follow in small
 * transactions. Each leaves a removal at a new position of the match log, which every reader gets in order. The item itself is deleted
 * with the last of its matches.
 */

/** The number of items whose matches are searched at once, under each rule of the day. */
const itemsAtOnceMax = 100;
/** Per transaction, because it blocks all writers of matches. */
const matchesAtOnceMax = 5_000;

export interface RemovalCounts {
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
): Promise<RemovalCounts> {
  const sum = { items: 0, matches: 0 };
  for (const [platform, its] of Map.groupBy(items, (item) => item.platform)) {
    for (let from = 0; from < its.length; from += itemsAtOnceMax) {
      const keys = its.slice(from, from + itemsAtOnceMax).map(({ eventKey }) => eventKey);
      for (let isDone = false; !isDone; ) {
        // The purge of deleted rules removes matches in another order: one of the two may be rolled back.
        const step = await retryOnConflict(() =>
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

interface RemovalTarget {
  readonly day: string;
  readonly platform: Platform;
  readonly keys: readonly string[];
  readonly reason: Removal['reason'];
}

/**
 * Positions are assigned in commit order, like those of matches (matching/match-store.sql.ts). Other writers wait from `take_turn` to
 * the commit.
 */
async function removeSome(sql: Sql, target: RemovalTarget): Promise<RemovalCounts & { isDone: boolean }> {
  const { day, platform, keys } = target;
  const gone = await deleteMatches(sql, target);
  if (gone.length > 0) {
    await writeRemovals(sql, gone, target);
    await takeOutOfBatches(sql, gone);
    const positions = gone.map(({ position }) => position);
    await sql.run('delete from match_relevance where position = any($1)', [positions]);
    await sql.run('delete from story_members where position = any($1)', [positions]);
  }
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

interface RemovedMatch {
  readonly accountId: string;
  readonly ruleId: string;
  readonly position: number;
}

/**
 * Searches matches under each rule that has some on that day, because the index of matches begins with the rule. The inner limit makes
 * it one index lookup per rule.
 */
async function deleteMatches(sql: Sql, { day, platform, keys }: RemovalTarget): Promise<RemovedMatch[]> {
  return await sql.many<RemovedMatch>(
    `with target as materialized (
       select found.rule_id, found.event_key from day_heads cross join lateral (
         select rule_id, event_key from matches where matches.rule_id = day_heads.rule_id
           and matches.event_day = $1 and matches.event_key = any($2) and matches.platform = $3 limit $4
       ) as found
       where day_heads.event_day = $1 and day_heads.platform = $3 and day_heads.rule_id <> '' limit $4
     )
     delete from matches using target
     where matches.event_day = $1 and matches.rule_id = target.rule_id and matches.event_key = target.event_key
     returning matches.account_id as "accountId", matches.rule_id as "ruleId", matches.position`,
    [day, keys, platform, matchesAtOnceMax],
  );
}

async function writeRemovals(
  sql: Sql,
  gone: readonly RemovedMatch[],
  { platform, reason }: RemovalTarget,
): Promise<void> {
  const log = await sql.one<{ ticket: number; before: number; at: string }>(
    'select ticket, before, at::text from take_positions($1)',
    [gone.length],
  );
  if (log === null) throw new Error('take_positions returned no row');
  const written = await sql.many<{ position: number; account_id: string; rule_id: string }>(
    `insert into removals (position, match_position, account_id, rule_id, platform, reason, created_at)
     select $1 + row_number() over (order by gone.position), gone.position, gone.account_id, gone.rule_id, $2, $3, $4
     from unnest($5::bigint[], $6::text[], $7::text[]) as gone (position, account_id, rule_id)
     join rules on rules.id = gone.rule_id and rules.state <> 'deleted'
     returning position, account_id, rule_id`,
    [
      log.before,
      platform,
      reason,
      log.at,
      gone.map(({ position }) => position),
      gone.map(({ accountId }) => accountId),
      gone.map(({ ruleId }) => ruleId),
    ],
  );
  await sql.run('select take_turn($1, $2, $3)', [log.ticket, log.before, gone.length]);
  await sql.run(
    `insert into heads (account_id, rule_id, platform, last_position)
     select account_id, coalesce(rule_id, ''), $1, max(position)
     from unnest($2::bigint[], $3::text[], $4::text[]) as written (position, account_id, rule_id)
     group by grouping sets ((account_id, rule_id), (account_id))
     on conflict (account_id, rule_id, platform) do update set last_position = excluded.last_position`,
    [
      platform,
      written.map(({ position }) => position),
      written.map(({ account_id }) => account_id),
      written.map(({ rule_id }) => rule_id),
    ],
  );
}
