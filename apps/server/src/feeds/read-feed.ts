import type { Match } from '@earshot/contract';
import { createTakeOne } from '../accounts/token-bucket.ts';
import type { Database } from '../engines/database.ts';
import type { ParsedRules } from '../language/explain-match.ts';
import type { MatchReader, StoredRemoval } from '../readers/match-reader.sql.ts';
import { hasWords, wordsOf } from '../readers/search-matches.ts';
import { toEntries } from '../readers/to-match.ts';
import type { Views } from '../readers/views.ts';
import { createConcurrencyLimits } from '../runtime/concurrency.ts';
import { Failure } from '../runtime/failure.ts';
import { feedContent } from './feed-content.ts';
import { hashOfToken, parseFeedFile } from './feed-token.ts';
import { createFindFeed, type FoundFeed, noteRead, readVersion, searchedMax } from './feed-version.sql.ts';
import { formats } from './render-feed.ts';

/** Requests for one feed per minute and node. Feed readers send a few per hour. */
const readsPerMinute = 60;
const entriesMax = 50;

export interface ReadFeedOptions {
  readonly database: Database;
  readonly reader: Pick<MatchReader, 'read'>;
  readonly views: Pick<Views, 'view' | 'forget'>;
  readonly parsedRules: ParsedRules;
  readonly hasJudge: boolean;
  readonly installationId: string;
  readonly consoleUrl: string | null;
  readonly contact: string;
  readonly nowMs: () => number;
}

/** The headers of a conditional request (RFC 9110, 13). */
interface FeedConditions {
  readonly ifNoneMatch: string | undefined;
  readonly ifModifiedSince: string | undefined;
}

export interface FeedAnswer {
  readonly feedId: string;
  readonly accountId: string;
  readonly etag: string;
  readonly lastModified: Date;
  readonly contentType: string;
  /** Null if the caller has the content. */
  readonly body: (() => Promise<string>) | null;
}

export type ReadFeed = ReturnType<typeof createReadFeed>;

/** Answers for the file name in the URL of a feed. Null for all that is not, or no longer, the URL of a feed. */
export function createReadFeed(options: ReadFeedOptions) {
  const { database, contact, nowMs } = options;
  const findFeed = createFindFeed(database);
  const take = createTakeOne({ perMinute: readsPerMinute, nowMs });
  const inTurnOfAccount = createConcurrencyLimits(1);
  return async (file: string, conditions: FeedConditions): Promise<FeedAnswer | null> => {
    const parsed = parseFeedFile(file);
    if (parsed === null) return null;
    const hash = hashOfToken(parsed.token);
    // Before the lookup, so that a flood costs nothing.
    const waitSeconds = take(hash.toString('base64'));
    if (waitSeconds !== null) throw readTooOften(waitSeconds, contact);
    const found = await findFeed(hash);
    if (found === null) return null;
    const version = await readVersion(options, found);
    const isNoted = found.version === version && found.isReadNoted;
    const read = isNoted ? found : await noteRead(database, found, version);
    if (read === null) return null;
    const { id: feedId, accountId } = found;
    const { modifiedAt, lastModified } = read;
    const etag = `"${(modifiedAt.getTime() / 1_000).toString(36)}-${version}-${parsed.format}"`;
    const { contentType, render } = formats[parsed.format];
    const body = () =>
      inTurnOfAccount(accountId, async () => {
        const content = await readContent(options, found);
        return render(feedContent(options, { ...found, modifiedAt }, content));
      });
    const isKnown = hasContent(conditions, etag, modifiedAt);
    return { feedId, accountId, etag, lastModified, contentType, body: isKnown ? null : body };
  };
}

/** A proxy that compresses makes the tag weak. The date counts only without a tag. */
function hasContent(
  { ifNoneMatch, ifModifiedSince }: FeedConditions,
  etag: string,
  modifiedAt: Date,
): boolean {
  if (ifNoneMatch !== undefined)
    return ifNoneMatch
      .split(',')
      .map((tag) => tag.trim().replace(/^W\//, ''))
      .some((tag) => tag === etag || tag === '*');
  return ifModifiedSince !== undefined && Date.parse(ifModifiedSince) >= modifiedAt.getTime();
}

async function readContent(options: ReadFeedOptions, feed: FoundFeed) {
  const matches = await readNewest(options, feed);
  const ruleIds = [...new Set(matches.map(({ rule_id }) => rule_id))];
  const sql = options.database.forAccount(feed.accountId);
  const [names, removals] = await Promise.all([
    sql.many<{ id: string; name: string }>(
      'select id, name from rules where account_id = $1 and id = any($2)',
      [feed.accountId, ruleIds],
    ),
    sql.many<Pick<StoredRemoval, 'matchPosition' | 'at'>>(
      `select match_position as "matchPosition", created_at as at from removals
       where account_id = $1 and ($2::text[] is null or rule_id = any($2)) and ($3::text is null or platform = $3)
       order by position desc limit ${entriesMax}`,
      [feed.accountId, feed.ruleIds, feed.platform],
    ),
  ]);
  return { matches, removals, ruleNames: new Map(names.map(({ id, name }) => [id, name])) };
}

/** The newest matches that the feed shows, among a bounded number. */
async function readNewest(options: ReadFeedOptions, feed: FoundFeed): Promise<Match[]> {
  const { reader, views, parsedRules } = options;
  const { accountId, ruleIds, platform, relevance, query } = feed;
  const words = wordsOf(query ?? '');
  const view = { relevance, hidden: 'exclude', waits: false } as const;
  const shown: Match[] = [];
  // The version was read anew: mutes that the node has cached may be older.
  views.forget(accountId);
  let from: number | null = null;
  for (let searched = 0; searched < searchedMax && shown.length < entriesMax; ) {
    const filter = { accountId, ruleIds, platform, since: null, until: null };
    const limit = Math.min(entriesMax, searchedMax - searched);
    const page = await reader.read({ ...filter, order: 'newest', from, limit });
    const wanted = page.matches.filter(({ payload }) => hasWords(payload, words));
    const entries = await toEntries(parsedRules, wanted);
    const seen = await views.view(accountId, entries, { view, marks: false });
    for (const entry of seen.entries) if ('match' in entry) shown.push(entry.match);
    searched += page.matches.length;
    from = page.matches.at(-1)?.position ?? from;
    if (!page.more) break;
  }
  return shown.slice(0, entriesMax);
}

function readTooOften(waitSeconds: number, contact: string): Failure {
  return new Failure(
    'resource_exhausted',
    `A feed may be read ${readsPerMinute} times per minute. Wait ${waitSeconds} s.`,
    {
      details: { reason: 'rate_limit', limit: readsPerMinute, used: readsPerMinute, contact },
      retryAfterSeconds: waitSeconds,
    },
  );
}
