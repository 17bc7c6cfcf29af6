import type { Platform } from '@earshot/contract';
import type { Database, Sql } from '../engines/database.ts';
import { findPlaces, type Places } from '../readers/match-days.sql.ts';
import type { SampleRange } from './plan-sample.ts';

/** A stored item with the oldest of its matches. */
export interface StoredItem {
  readonly position: number;
  readonly ruleId: string;
  readonly createdAt: Date;
  readonly platformPostId: string;
  /** JSON. */
  readonly payload: string;
  /** Whether the compared rule has matched it, in its present version. */
  readonly ofRule: boolean;
}

export interface ItemsQuery {
  readonly accountId: string;
  readonly platform: Platform;
  readonly since: Date;
  /** The rule to compare with, and its version. */
  readonly rule: { readonly id: string; readonly version: number } | null;
}

/** After this time, reading is given up. */
const statementMsMax = 1_000;
/** Far above the average of a range. Many matches of one moment are cut here. */
const rangeRowsMax = 200;

export type StoredItems = ReturnType<typeof createStoredItems>;

/** Reads the items of one account, as that account: PostgreSQL shows it no others. */
export function createStoredItems(database: Database) {
  return {
    places: ({ accountId, platform, since }: ItemsQuery): Promise<Places> =>
      bounded(database, accountId, (sql) =>
        findPlaces(sql, {
          accountId,
          platform,
          since,
          ruleIds: null,
          until: null,
          order: 'oldest',
          from: null,
          limit: 1,
        }),
      ),
    /** Returns each item once, however many rules it matched. */
    read: (
      query: ItemsQuery,
      ranges: readonly SampleRange[],
      hidden: readonly string[],
    ): Promise<StoredItem[]> =>
      bounded(database, query.accountId, (sql) => readItems(sql, query, ranges, hidden)),
  };
}

function bounded<Result>(
  database: Database,
  accountId: string,
  read: (sql: Sql) => Promise<Result>,
): Promise<Result> {
  return database.forAccount(accountId).snapshot(async (sql) => {
    await sql.run(`set local statement_timeout = ${statementMsMax}`);
    return await read(sql);
  });
}

/** Not prepared, for the reason in readers/match-reader.sql.ts: a plan that does not know the account may read rows of all accounts. */
async function readItems(
  sql: Sql,
  { accountId, platform, rule }: ItemsQuery,
  ranges: readonly SampleRange[],
  hidden: readonly string[],
): Promise<StoredItem[]> {
  return await sql.many<StoredItem>(
    `with picked as materialized (
       select min(position) as position, (array_agg(rule_id order by position))[1] as rule_id, event_key, event_day,
         min(created_at) as created_at
       from unnest($3::date[], $4::bigint[], $5::bigint[]) as range (day, low, high)
       cross join lateral (
         select position, rule_id, event_key, event_day, created_at from matches
         where account_id = $1 and platform = $2 and event_day = range.day and event_day = any($8::date[])
           and position >= range.low and position < range.high and rule_id <> all($9)
         order by position limit ${rangeRowsMax}
       ) as found
       group by event_key, event_day
     )
     select picked.position, picked.rule_id as "ruleId", picked.created_at as "createdAt",
       -- The item's match by the rule may be outside of the range.
       exists (select 1 from matches where rule_id = $6 and event_key = picked.event_key and event_day = picked.event_day
         and event_day = any($8::date[]) and rule_version = $7) as "ofRule", posts.platform_post_id as "platformPostId", posts.payload
     from (
       select array_agg(rule_id) as rules, array_agg(event_key) as keys, array_agg($2::text) as platforms,
         array_agg(event_day) as days from picked
     ) as wanted
     cross join lateral posts_of(wanted.rules, wanted.keys, wanted.platforms, wanted.days) as posts
     join picked on picked.rule_id = posts.rule_id and picked.event_key = posts.event_key
       and picked.event_day = posts.event_day`,
    [
      accountId,
      platform,
      ...(['day', 'low', 'high'] as const).map((name) => ranges.map((range) => range[name])),
      rule?.id ?? null,
      rule?.version ?? null,
      [...new Set(ranges.map(({ day }) => day))],
      hidden,
    ],
  );
}
