import {
  type AnswerOf,
  chatWindowSecondsDefault,
  isChatFormat,
  type Platform,
  type RelevanceFilter,
  type Webhook,
  type WebhookFormat,
  webhookMatchesMax,
  windowSecondsDefault,
} from '@earshot/contract';
import type { Handler } from '../accounts/call.ts';
import { type Change, lockAccount, recordChange } from '../accounts/change.ts';
import type { Database, Sql } from '../engines/database.ts';
import { refuseUnknownRules } from '../rules/refusals.ts';
import { badField, Failure } from '../runtime/failure.ts';
import { newId } from '../runtime/ids.ts';
import { batchMatchesMax } from './endpoint-state.ts';
import type { UrlProblem } from './public-address.ts';
import { nameTaken, noSecretsKey } from './refusals.ts';
import { newSecret, type SecretBox } from './secrets.ts';
import { auditOf, noticesEndOf, shown, toWebhook, type WebhookRow } from './webhooks.sql.ts';

export function createWebhook(options: {
  readonly database: Database;
  readonly urlProblem: UrlProblem;
  /** Null if the operator has not configured a key for secrets. */
  readonly secretBox: SecretBox | null;
  readonly contact: string;
}): Handler<'CreateWebhook'> {
  const { database, urlProblem, secretBox, contact } = options;
  return async ({ principal, request, change }) => {
    if (secretBox === null) throw noSecretsKey(contact);
    const { accountId } = principal;
    const { name, url, format, events = ['matches'] } = request;
    const ruleIds = request.rule_ids ?? null;
    const platform = request.platform ?? null;
    const { relevance = 'all', group = null } = request;
    const windowSeconds = request.window_seconds ?? windowDefaultOf(format);
    const maxMatches = request.max_matches ?? webhookMatchesMax;
    const problem = urlProblem(url);
    if (problem !== null) throw badField('url', problem);
    const id = newId('whk');
    const secret = newSecret();
    const target = { id, name, url, format, windowSeconds, maxMatches };
    const webhook = {
      ...target,
      ruleIds,
      platform,
      relevance,
      group,
      events,
      sealedSecret: secretBox.seal(id, secret),
    };
    const limit = { webhooksMax: principal.limits.webhooks, contact };
    const answer = await database.forAccount(accountId).transaction(async (sql) => {
      await refuseUnknownRules(sql, accountId, ruleIds ?? []);
      return await insertWebhook(sql, change, webhook, limit);
    });
    // Messages for a chat are not signed. The secret is kept for the case that the format changes.
    return { ...answer, secret: isChatFormat(format) ? null : secret };
  };
}

export const windowDefaultOf = (format: WebhookFormat) =>
  isChatFormat(format) ? chatWindowSecondsDefault : windowSecondsDefault;

interface NewWebhook {
  readonly id: string;
  readonly name: string;
  readonly url: string;
  readonly format: WebhookFormat;
  readonly windowSeconds: number;
  readonly maxMatches: number;
  readonly ruleIds: readonly string[] | null;
  readonly platform: Platform | null;
  readonly relevance: RelevanceFilter;
  readonly group: Webhook['group'];
  readonly events: readonly Webhook['events'][number][];
  readonly sealedSecret: Buffer;
}

/** The webhook starts at the ends of the match log and of the account's notices. */
export async function insertWebhook(
  sql: Sql,
  change: Change,
  webhook: NewWebhook,
  { webhooksMax, contact }: { readonly webhooksMax: number; readonly contact: string },
): Promise<AnswerOf<'CreateWebhook'>> {
  const { accountId } = change;
  const {
    id,
    name,
    url,
    format,
    windowSeconds,
    maxMatches,
    ruleIds,
    platform,
    relevance,
    group,
    events,
    sealedSecret,
  } = webhook;
  await lockAccount(sql, accountId);
  const count = await sql.one<{ used: number; taken: boolean }>(
    `select count(*) as used, coalesce(bool_or(name = $2), false) as taken from webhooks where account_id = $1`,
    [accountId, name],
  );
  if (count?.taken) throw nameTaken(name);
  const used = count?.used ?? 0;
  if (used >= webhooksMax) {
    throw new Failure(
      'resource_exhausted',
      `The account has ${used} of ${webhooksMax} webhooks. Delete one, or ask ${contact} for more.`,
      { details: { reason: 'plan_limit', limit: webhooksMax, used, contact } },
    );
  }
  const row = await sql.one<WebhookRow>(
    `insert into webhooks (id, account_id, name, url, rule_ids, platform, secret, state, batch_max, next_attempt_at, position,
       events, format, window_seconds, relevance, max_matches, grouping, stories_from, notice_position)
     select $1, $2, $3, $4, $5, $6, $7, 'active', $8, now(), last_position, $9, $10, $11, $12, $13, $14, last_position, ${noticesEndOf('$2')}
     from match_log returning ${shown}`,
    [
      id,
      accountId,
      name,
      url,
      ruleIds,
      platform,
      sealedSecret,
      batchMatchesMax,
      events,
      format,
      windowSeconds,
      relevance,
      maxMatches,
      group,
    ],
  );
  if (!row) throw new Error('there is no match log');
  const answer = { ...toWebhook(row), webhook_id: id, secret: null };
  await recordChange(sql, change, { targetId: id, before: null, after: auditOf(row), answer });
  return answer;
}
