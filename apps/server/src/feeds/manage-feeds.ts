import type { Handler } from '../accounts/call.ts';
import { lockAccount, recordChange } from '../accounts/change.ts';
import { assertScope, isValid, keyRefused } from '../accounts/keys.ts';
import type { Database, Sql } from '../engines/database.ts';
import { refuseUnknownRules } from '../rules/refusals.ts';
import type { Cursors, PageQuery } from '../runtime/cursor.ts';
import { Failure } from '../runtime/failure.ts';
import { newId } from '../runtime/ids.ts';
import { feedPath, hashOfToken, newToken } from './feed-token.ts';
import { auditOf, type FeedRow, shown, toFeed } from './feeds.sql.ts';

interface CreateFeedOptions {
  readonly database: Database;
  readonly contact: string;
  /** The address of the installation; null if it is not configured. */
  readonly publicUrl: string | null;
}

/**
 * The URL is a credential, so it never gets more than the calling key has: it reads matches, and expires with the key. An account has at
 * most as many feeds as keys.
 */
export function createFeed({ database, contact, publicUrl }: CreateFeedOptions): Handler<'CreateFeed'> {
  return async ({ principal, request, change }) => {
    assertScope(principal, 'matches:read');
    const { accountId } = principal;
    const { name, rule_ids: ruleIds = null, platform = null, relevance = 'all', query = null } = request;
    const feedsMax = principal.limits.keys;
    const id = newId('feed');
    const token = newToken();
    const answer = await database.forAccount(accountId).transaction(async (sql) => {
      await lockAccount(sql, accountId);
      await refuseUnknownRules(sql, accountId, ruleIds ?? []);
      await refuseTakenOrTooMany(sql, accountId, { name, feedsMax, contact });
      const key = await sql.one<{ expires_at: Date | null }>(
        `select expires_at from api_keys where id = $1 and ${isValid} for share`,
        [principal.keyId],
      );
      if (!key) throw keyRefused();
      const row = await sql.one<FeedRow>(
        `insert into feeds (id, account_id, name, rule_ids, platform, relevance, query, token_hash, expires_at)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9) returning ${shown}`,
        [id, accountId, name, ruleIds, platform, relevance, query, hashOfToken(token), key.expires_at],
      );
      if (!row) throw new Error('the feed was not inserted');
      const created = { ...toFeed(row), feed_id: id, atom_url: null, json_url: null };
      await recordChange(sql, change, { targetId: id, before: null, after: auditOf(row), answer: created });
      return created;
    });
    const urlOf = (format: 'atom' | 'json') => `${publicUrl ?? ''}${feedPath(token, format)}`;
    return { ...answer, atom_url: urlOf('atom'), json_url: urlOf('json') };
  };
}

async function refuseTakenOrTooMany(
  sql: Sql,
  accountId: string,
  { name, feedsMax, contact }: { name: string; feedsMax: number; contact: string },
): Promise<void> {
  const count = await sql.one<{ used: number; taken: boolean }>(
    `select count(*) as used, coalesce(bool_or(name = $2), false) as taken from feeds where account_id = $1`,
    [accountId, name],
  );
  if (count?.taken)
    throw new Failure('already_exists', `The name ${JSON.stringify(name)} is in use. Choose another name.`);
  const used = count?.used ?? 0;
  if (used < feedsMax) return;
  throw new Failure(
    'resource_exhausted',
    `The account has ${used} of ${feedsMax} feeds. Delete one, or ask ${contact} for more.`,
    { details: { reason: 'plan_limit', limit: feedsMax, used, contact } },
  );
}

export function listFeeds(options: { database: Database; cursors: Cursors }): Handler<'ListFeeds'> {
  const { database, cursors } = options;
  return async ({ principal: { accountId }, request }) => {
    const read = ({ before, limit }: PageQuery) =>
      database.forAccount(accountId).many<FeedRow>(
        `select ${shown} from feeds where account_id = $1 and ($2::text is null or id < $2)
         order by id desc limit $3`,
        [accountId, before, limit],
      );
    const page = await cursors.page({ accountId, filter: ['feeds'] }, request, read, ({ id }) => id);
    return { feeds: page.items.map(toFeed), next_cursor: page.next_cursor };
  };
}

/** Every request for a feed reads its row, so the URLs stop working with the commit. */
export function deleteFeed({ database }: { readonly database: Database }): Handler<'DeleteFeed'> {
  return ({ request: { feed_id }, change }) =>
    database.forAccount(change.accountId).transaction(async (sql) => {
      const row = await sql.one<FeedRow & { deleted_at: Date }>(
        `delete from feeds where account_id = $1 and id = $2 returning ${shown}, now() as deleted_at`,
        [change.accountId, feed_id],
      );
      // The same, to the byte, for an unknown id and a feed of another account (I7).
      if (!row) throw new Failure('not_found', 'The feed does not exist. List your feeds to see their ids.');
      const answer = { feed_id, deleted_at: row.deleted_at.toISOString() };
      await recordChange(sql, change, { targetId: feed_id, before: auditOf(row), after: null, answer });
      return answer;
    });
}
