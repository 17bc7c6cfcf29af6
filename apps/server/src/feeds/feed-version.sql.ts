import { createHash } from 'node:crypto';
import type { Database } from '../engines/database.ts';
import { readAccount } from '../relevance/relevance.sql.ts';
import { joinCalls } from '../runtime/join-calls.ts';
import type { FeedFilter } from './feeds.sql.ts';

/*
 * The version of a feed is a hash of all that its content depends on, so that a feed reader that has the content costs no read of
 * matches. Two versions never have the same `modifiedAt`, which has whole seconds like the header `Last-Modified`.
 */

/** Grows when the content of a feed is made in another way. */
const form = 1;

/** A feed shows the newest entries among this many matches. */
export const searchedMax = 1_000;

/** When a feed was last read is exact to this time: a feed that did not change is then not written. */
const readEvery = `interval '10 minutes'`;

export interface FoundFeed extends FeedFilter {
  readonly id: string;
  readonly name: string;
  readonly version: string;
  readonly modifiedAt: Date;
  /** For `Last-Modified`, which must not be in the future. */
  readonly lastModified: Date;
  readonly isReadNoted: boolean;
}

interface FoundRow extends FoundFeed {
  readonly hash: Buffer;
}

const times = `modified_at as "modifiedAt", least(modified_at, date_trunc('second', now())) as "lastModified"`;

/** Null for an unknown, expired or deleted feed, and for a suspended account. Lookups that arrive together share one statement. */
export function createFindFeed(database: Database) {
  return joinCalls(async (hashes: readonly Buffer[]): Promise<(FoundFeed | null)[]> => {
    const rows = await database.prepared<FoundRow>(
      `select token_hash as hash, id, account_id as "accountId", name, rule_ids as "ruleIds", platform, relevance, query, version,
         ${times}, coalesce(last_read_at > now() - ${readEvery}, false) as "isReadNoted"
       from feeds where token_hash = any($1) and (expires_at is null or expires_at > now())
         and not exists (select 1 from accounts where accounts.id = account_id and suspended_at is not null)`,
      [hashes],
    );
    return hashes.map((hash) => rows.find((row) => row.hash.equals(hash)) ?? null);
  });
}

interface VersionOptions {
  readonly database: Database;
  readonly hasJudge: boolean;
  readonly consoleUrl: string | null;
}

/** Reads what decides the content. It is read before the matches, so that a change in between gets another version. */
export async function readVersion(options: VersionOptions, feed: FoundFeed): Promise<string> {
  const { database, consoleUrl } = options;
  const { accountId, relevance, name } = feed;
  const isFiltered = relevance !== 'all';
  const [[stored], { mutes, judged }] = await Promise.all([
    readStored(database, feed, isFiltered),
    readAccount(database, accountId, options),
  ]);
  const decided = [...judged].map(([id, rule]) => [id, rule.isProven, rule.hidesUnproven]);
  const parts = [
    [form, consoleUrl, name, stored],
    mutes.map(({ id }) => id).toSorted(),
    isFiltered ? decided.map(String).toSorted() : [],
  ];
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 16);
}

/** The newest labels and verdicts: at least those of all matches that are searched. */
const factsOf = (isOfRules: boolean) => {
  const newest = `select position, label, verdict from match_relevance where ${isOfRules ? 'rule_id = wanted.id' : 'account_id = $1'}
    and ($3::text is null or platform = $3) order by position desc limit ${searchedMax}`;
  return `select md5(string_agg(concat_ws(' ', position, coalesce(label, '-'), verdict), ',' order by position))
    from ${isOfRules ? `unnest($2::text[]) as wanted (id) cross join lateral (${newest}) as facts` : `(${newest}) as facts`}`;
};

/** A day that retention removes changes `removed`. */
const statementOf = (isOfRules: boolean, isFiltered: boolean) => `select
    (select max(last_position) from heads
     where account_id = $1 and rule_id = ${isOfRules ? 'any($2::text[])' : `''`} and ($3::text is null or platform = $3)) as head,
    (select max(last_position) from removed_matches
     where account_id = $1 and ($2::text[] is null or rule_id = any($2)) and ($3::text is null or platform = $3)) as removed,
    (select md5(string_agg(id || ' ' || name, ',' order by id)) from rules
     where account_id = $1 and ($2::text[] is null or id = any($2)) and state not in ('creating', 'deleted')) as rules,
    (${isFiltered ? factsOf(isOfRules) : 'null'}) as facts`;

async function readStored(database: Database, feed: FoundFeed, isFiltered: boolean): Promise<object[]> {
  const { accountId, ruleIds, platform } = feed;
  return await database
    .forAccount(accountId)
    .prepared<object>(statementOf(ruleIds !== null, isFiltered), [accountId, ruleIds, platform]);
}

/** Records the version, and that the feed was read. Null if the feed was deleted meanwhile. */
export async function noteRead(
  database: Database,
  { id }: FoundFeed,
  version: string,
): Promise<Pick<FoundFeed, 'modifiedAt' | 'lastModified'> | null> {
  const [row] = await database.prepared<Pick<FoundFeed, 'modifiedAt' | 'lastModified'>>(
    `update feeds set last_read_at = now(), version = $2, modified_at = case version when $2 then modified_at
       when '' then date_trunc('second', now()) else greatest(date_trunc('second', now()), modified_at + interval '1 second') end
     where id = $1 returning ${times}`,
    [id, version],
  );
  return row ?? null;
}
