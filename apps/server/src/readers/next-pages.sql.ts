import type { Database } from '../engines/database.ts';
import { joinCalls } from '../runtime/join-calls.ts';
import type { MatchQuery } from './match-days.sql.ts';
import {
  isCut,
  type MatchPage,
  type MatchReader,
  type MatchRow,
  sizes,
  toStoredMatch,
} from './match-reader.sql.ts';

/** Pages that are read together, and the most bytes of payloads of each: together 16 MiB. */
const pagesMax = 64;
const bytesMax = 256 * 1024;

type NextQuery = Pick<MatchQuery, 'accountId' | 'ruleIds' | 'platform' | 'from' | 'limit'>;

/**
 * Reads the next matches of many readers, oldest first, with one statement for all that request them at the same time. Few webhooks have
 * more than a page waiting, and a transaction for each of them costs more than its matches. What this statement does not cover is read
 * one by one: several rules, removals, and matches of deleted rules.
 */
export function createNextPages(database: Database, reader: Pick<MatchReader, 'read'>) {
  const ofRules = joinCalls((queries: readonly NextQuery[]) => readAll(database, queries, 'rule'), {
    max: pagesMax,
    retriesAlone: true,
  });
  const ofAccounts = joinCalls((queries: readonly NextQuery[]) => readAll(database, queries, 'account'), {
    max: pagesMax,
    retriesAlone: true,
  });
  return async (query: NextQuery): Promise<MatchPage> => {
    const { ruleIds } = query;
    const isCovered = ruleIds === null || ruleIds.length === 1;
    const page = isCovered ? await (ruleIds === null ? ofAccounts : ofRules)(query) : 'not plain';
    if (page !== 'not plain') return page;
    return await reader.read({ ...query, order: 'oldest', since: null, until: null });
  };
}

type FoundRow = MatchRow & { readonly reader: number; readonly is_plain: boolean };

/** A reader whose page has no matches has one row, in which everything else is null. */
type GivenRow = FoundRow | { readonly reader: number; readonly is_plain: boolean; readonly position: null };

const hasMatch = (row: GivenRow): row is FoundRow => row.position !== null;

async function readAll(
  database: Database,
  queries: readonly NextQuery[],
  by: 'rule' | 'account',
): Promise<(MatchPage | 'not plain')[]> {
  const rows = await database.prepared<GivenRow>(statements[by], [
    queries.map(({ accountId }) => accountId),
    queries.map(({ ruleIds }) => ruleIds?.[0] ?? ''),
    queries.map(({ platform }) => platform),
    queries.map(({ from }) => from ?? 0),
    queries.map(({ limit }) => limit),
    bytesMax,
  ]);
  const pages = Map.groupBy(rows, ({ reader }) => reader);
  return queries.map(({ limit }, index) => {
    const page = pages.get(index + 1) ?? [];
    if (page.some(({ is_plain }) => !is_plain)) return 'not plain';
    const found = page.filter(hasMatch);
    const last = found.at(-1);
    const more = last !== undefined && (isCut(last) || last.rows_of_all === limit);
    return { matches: found.map(toStoredMatch), removals: [], more };
  });
}

/**
 * The summaries of the days name the partitions. The inner limits make it one index lookup per day and per post, whatever the planner
 * knows about the tables.
 */
const statementBy = (condition: string) => `
  with given as (
    select * from unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::integer[]) with ordinality
      as given (account_id, rule_id, platform, after, most, reader)
  ), page as materialized (
    select given.reader, found.* from given cross join lateral (
      select of_day.* from day_heads cross join lateral (
        select position, rule_id, rule_version, created_at, platform, event_key, event_day, via from matches
        where matches.platform = day_heads.platform and matches.event_day = day_heads.event_day and position > given.after
          and account_id = given.account_id and ${condition}
        order by position limit given.most
      ) as of_day
      where day_heads.account_id = given.account_id and day_heads.rule_id = given.rule_id
        and (given.platform is null or day_heads.platform = given.platform) and day_heads.last_position > given.after
      order by of_day.position limit given.most
    ) as found
  ), loaded as (
    select page.*, posts.platform_post_id, posts.payload, coalesce(versions.translated_value, '') as rule_value,
      ${sizes('page.position', 'partition by page.reader')}
    from page
    join lateral (
      select platform_post_id, payload from posts where posts.event_key = page.event_key
        and posts.platform = page.platform and posts.event_day = page.event_day limit 1
    ) as posts on true
    join rules on rules.id = page.rule_id and rules.state not in ('creating', 'deleted')
    left join rule_versions versions on versions.rule_id = page.rule_id
      and versions.version = page.rule_version and versions.platform = page.platform
  )
  select given.reader, loaded.position, loaded.rule_id, loaded.rule_version, loaded.created_at, loaded.platform, loaded.event_key,
    loaded.via, loaded.platform_post_id, loaded.payload, loaded.bytes, loaded.bytes_of_all, loaded.rows_of_all, loaded.rule_value,
    not exists (select from removals where removals.account_id = given.account_id and removals.position > given.after)
      and coalesce(loaded.rows_of_all, 0) = (select count(*) from page where page.reader = given.reader) as is_plain
  from given
  left join loaded on loaded.reader = given.reader and (loaded.bytes <= $6 or loaded.nth = 1)
  order by given.reader, loaded.position`;

const statements = { rule: statementBy('rule_id = given.rule_id'), account: statementBy('true') };
