import {
  isChatFormat,
  notForChats,
  type Platform,
  type RelevanceFilter,
  type Webhook,
  type WebhookFormat,
  windowProblem,
} from '@earshot/contract';
import type { Handler } from '../accounts/call.ts';
import { type Change, lockAccount, recordChange } from '../accounts/change.ts';
import type { Database, Sql } from '../engines/database.ts';
import { resolveNotices } from '../notices/notice-log.sql.ts';
import { refuseUnknownRules } from '../rules/refusals.ts';
import type { Cursors, PageQuery } from '../runtime/cursor.ts';
import { badField } from '../runtime/failure.ts';
import { windowDefaultOf } from './create-webhook.ts';
import { hasUnsent } from './delivery-store.sql.ts';
import type { UrlProblem } from './public-address.ts';
import { nameTaken, neededByDigest, noSecretsKey, noSuchWebhook, notSigned } from './refusals.ts';
import { newSecret, type SecretBox } from './secrets.ts';
import {
  auditOf,
  discardBatch,
  noticesEndOf,
  retryNow,
  shown,
  shownUrl,
  startOver,
  toWebhook,
  type WebhookRow,
} from './webhooks.sql.ts';

export function listWebhooks({
  database,
  cursors,
}: {
  readonly database: Database;
  readonly cursors: Cursors;
}): Handler<'ListWebhooks'> {
  return async ({ principal: { accountId }, request }) => {
    const read = ({ before, limit }: PageQuery) =>
      database.forAccount(accountId).many<WebhookRow>(
        `select ${shown} from webhooks where account_id = $1 and ($2::text is null or id < $2)
         order by id desc limit $3`,
        [accountId, before, limit],
      );
    const page = await cursors.page({ accountId, filter: ['webhooks'] }, request, read, ({ id }) => id);
    return { webhooks: page.items.map(toWebhook), next_cursor: page.next_cursor };
  };
}

export function updateWebhook(options: {
  readonly database: Database;
  readonly urlProblem: UrlProblem;
}): Handler<'UpdateWebhook'> {
  const { database, urlProblem } = options;
  return async ({ principal: { accountId }, request, change }) => {
    const { webhook_id, rule_ids, window_seconds, max_matches, ...changes } = request;
    const problem = changes.url === undefined ? null : urlProblem(changes.url);
    if (problem !== null) throw badField('url', problem);
    return await database.forAccount(accountId).transaction((sql) =>
      update(sql, change, webhook_id, {
        ...changes,
        ruleIds: rule_ids,
        windowSeconds: window_seconds,
        maxMatches: max_matches,
      }),
    );
  };
}

/** What the owner changes; absent fields stay as they are. */
interface WebhookChanges {
  readonly name?: string | undefined;
  readonly url?: string | undefined;
  readonly format?: WebhookFormat | undefined;
  readonly windowSeconds?: number | undefined;
  readonly maxMatches?: number | undefined;
  readonly ruleIds?: readonly string[] | null | undefined;
  readonly platform?: Platform | null | undefined;
  readonly relevance?: RelevanceFilter | undefined;
  readonly group?: Webhook['group'] | undefined;
  readonly events?: Webhook['events'] | undefined;
  readonly state?: 'active' | 'paused' | undefined;
}

/**
 * The URL, format and window after the change. A chat URL in its masked form counts as unchanged, so that a listed
 * webhook can be sent back. Another format must not reveal it.
 */
function targetOf(before: WebhookRow, changes: WebhookChanges) {
  const { format = before.format, windowSeconds } = changes;
  const newUrl = changes.url === shownUrl(before) ? undefined : changes.url;
  const url = newUrl ?? before.url;
  const isChat = isChatFormat(format);
  const problem = windowProblem(format, windowSeconds);
  if (problem !== null) throw badField('window_seconds', problem);
  if (isChat && changes.maxMatches !== undefined) throw badField('max_matches', notForChats);
  if (!isChat && isChatFormat(before.format) && newUrl === undefined)
    throw badField('url', 'Send the URL too, because the URL of a chat is not shown again.');
  const kept = isChat === isChatFormat(before.format) ? before.window_seconds : windowDefaultOf(format);
  return { url, format, windowSeconds: windowSeconds ?? kept };
}

/**
 * Whether the webhook still gets all matches that it got before. Its stored batch then stays, because every attempt sends the same
 * bytes.
 */
function isWider(ruleIds: readonly string[] | null, before: readonly string[] | null): boolean {
  return ruleIds === null || (before?.every((id) => ruleIds.includes(id)) ?? false);
}

/**
 * A new filter or format discards the stored batch, unless only rules are added. A webhook that has sent everything gets the matches
 * of a new filter from now on. Another one continues where it stopped, so that it misses nothing. A new URL or a resume triggers the
 * next attempt at once. So does setting an active webhook to active, which is how owners request a retry.
 */
async function update(
  sql: Sql,
  change: Change,
  webhookId: string,
  changes: WebhookChanges,
): Promise<Webhook> {
  const { accountId } = change;
  await lockAccount(sql, accountId);
  const before = await sql.one<WebhookRow>(
    `select ${shown} from webhooks where account_id = $1 and id = $2 for update`,
    [accountId, webhookId],
  );
  if (!before) throw noSuchWebhook();
  const name = changes.name ?? before.name;
  const { url, format, windowSeconds } = targetOf(before, changes);
  const ruleIds = changes.ruleIds === undefined ? before.rule_ids : changes.ruleIds;
  // A rule may have been deleted since it was chosen.
  const added = ruleIds?.filter((id) => !before.rule_ids?.includes(id)) ?? [];
  await refuseUnknownRules(sql, accountId, added);
  const platform = changes.platform === undefined ? before.platform : changes.platform;
  const relevance = changes.relevance ?? before.relevance;
  const group = changes.group === undefined ? before.group : changes.group;
  const events = changes.events ?? before.events;
  const state = changes.state ?? before.state;
  const namesake = await sql.one('select 1 from webhooks where account_id = $1 and name = $2 and id <> $3', [
    accountId,
    name,
    webhookId,
  ]);
  if (namesake) throw nameTaken(name);
  const begins = (event: 'matches' | 'notices') => events.includes(event) && !before.events.includes(event);
  const newMatches = begins('matches') || !events.includes('matches');
  const keepsMatches = isWider(ruleIds, before.rule_ids);
  const newRules = !keepsMatches || !isWider(before.rule_ids, ruleIds);
  const newMessages =
    platform !== before.platform ||
    relevance !== before.relevance ||
    group !== before.group ||
    format !== before.format ||
    newMatches;
  const newFilter = newRules || newMessages;
  const startsOver = newMessages || !keepsMatches;
  const logEnd = '(select last_position from match_log)';
  const position = begins('matches') ? logEnd : `case when ${hasUnsent} then position else ${logEnd} end`;
  const isFresh = url !== before.url || (state === 'active' && before.state !== 'active');
  const row = await sql.one<WebhookRow>(
    `update webhooks set name = $2, url = $3, rule_ids = $4, platform = $5, state = $6, events = $7, format = $8,
       window_seconds = $9, relevance = $10, max_matches = $11, grouping = $12, updated_at = now()
       ${newFilter ? `, position = ${position}` : ''}
       ${newMessages ? `, stories_from = ${position}` : ''}
       ${begins('notices') ? `, notice_position = ${noticesEndOf('webhooks.account_id')}` : ''}
       ${startsOver ? `, ${startOver}` : newFilter ? ', epoch = epoch + 1' : ''}
       ${isFresh ? ', failures = 0, failing_since = null, troubled = false' : ''}
       ${isFresh || changes.state === 'active' ? `, ${retryNow}` : ''}
       ${state === 'disabled' ? '' : ', disabled_reason = null'}
     where id = $1 returning ${shown}`,
    [
      webhookId,
      name,
      url,
      ruleIds,
      platform,
      state,
      events,
      format,
      windowSeconds,
      relevance,
      changes.maxMatches ?? before.max_matches,
      group,
    ],
  );
  if (startsOver) await discardBatch(sql, webhookId);
  const answer = toWebhook(row ?? before);
  const after = auditOf(row ?? before);
  await recordChange(sql, change, { targetId: webhookId, before: auditOf(before), after, answer });
  return answer;
}

export function deleteWebhook({ database }: { readonly database: Database }): Handler<'DeleteWebhook'> {
  return ({ request: { webhook_id }, change }) =>
    database.forAccount(change.accountId).transaction(async (sql) => {
      // CreateDigest takes the same lock.
      await lockAccount(sql, change.accountId);
      const digest = await sql.one<{ name: string }>(
        'select name from digests where account_id = $1 and webhook_id = $2 limit 1',
        [change.accountId, webhook_id],
      );
      if (digest) throw neededByDigest(digest.name);
      const row = await sql.one<WebhookRow & { deleted_at: Date }>(
        `delete from webhooks where account_id = $1 and id = $2 returning ${shown}, now() as deleted_at`,
        [change.accountId, webhook_id],
      );
      if (!row) throw noSuchWebhook();
      const answer = { webhook_id, deleted_at: row.deleted_at.toISOString() };
      await recordChange(sql, change, { targetId: webhook_id, before: auditOf(row), after: null, answer });
      await resolveNotices(sql, {
        types: ['webhook.failing', 'webhook.disabled'],
        subject: { kind: 'webhook', id: webhook_id },
      });
      return answer;
    });
}

const previousSecretHours = 24;

/** The previous secret stays valid beside the new one for 24 hours. */
export function rotateWebhookSecret(options: {
  readonly database: Database;
  readonly secretBox: SecretBox | null;
  readonly contact: string;
}): Handler<'RotateWebhookSecret'> {
  const { database, secretBox, contact } = options;
  return async ({ request: { webhook_id }, change }) => {
    if (secretBox === null) throw noSecretsKey(contact);
    const secret = newSecret();
    const sealed = secretBox.seal(webhook_id, secret);
    return await database.forAccount(change.accountId).transaction(async (sql) => {
      const row = await sql.one<{ until: Date; format: WebhookFormat }>(
        `update webhooks set previous_secret = secret, secret = $3, updated_at = now(),
           previous_secret_until = now() + interval '${previousSecretHours} hours'
         where account_id = $1 and id = $2 returning previous_secret_until as until, format`,
        [change.accountId, webhook_id, sealed],
      );
      if (!row) throw noSuchWebhook();
      if (isChatFormat(row.format)) throw notSigned();
      const after = { previous_expires_at: row.until.toISOString() };
      const answer = { webhook_id, secret: null, ...after };
      await recordChange(sql, change, { targetId: webhook_id, before: null, after, answer });
      return { ...answer, secret };
    });
  };
}
