import {
  isChatFormat,
  type Platform,
  type RelevanceFilter,
  type Webhook,
  type WebhookFormat,
} from '@earshot/contract';
import type { Database, Sql } from '../engines/database.ts';
import { matchIdOf } from '../runtime/ids.ts';
import { batchMatchesMax } from './endpoint-state.ts';
import { withoutMatches } from './message.ts';

/** The columns of a `WebhookRow`. */
export const shown = `id, name, url, format, window_seconds, max_matches, rule_ids, platform, relevance, grouping as "group", events, state, disabled_reason as reason, failing_since, failures, next_attempt_at,
  created_at, updated_at`;

export interface WebhookRow {
  readonly id: string;
  readonly name: string;
  readonly url: string;
  readonly format: WebhookFormat;
  readonly window_seconds: number;
  readonly max_matches: number;
  readonly rule_ids: string[] | null;
  readonly platform: Platform | null;
  readonly relevance: RelevanceFilter;
  readonly group: Webhook['group'];
  readonly events: Webhook['events'];
  readonly state: Webhook['state'];
  readonly reason: Webhook['reason'];
  readonly failing_since: Date | null;
  readonly failures: number;
  readonly next_attempt_at: Date;
  readonly created_at: Date;
  readonly updated_at: Date;
}

export function toWebhook(row: WebhookRow): Webhook {
  const { failures, next_attempt_at, failing_since, created_at, updated_at, ...same } = row;
  const waits = row.state === 'active' && failures > 0;
  return {
    ...same,
    url: shownUrl(row),
    failing_since: failing_since?.toISOString() ?? null,
    next_attempt_at: waits ? next_attempt_at.toISOString() : null,
    created_at: created_at.toISOString(),
    updated_at: updated_at.toISOString(),
  };
}

/** The whole URL of a chat is a credential: with it, anyone can post there. */
export function shownUrl({ url, format }: Pick<WebhookRow, 'url' | 'format'>): string {
  return isChatFormat(format) ? `${new URL(url).origin}/…` : url;
}

/** The settings of the owner for the audit log, without secrets. */
export function auditOf(row: WebhookRow): object {
  const { name, format, window_seconds, max_matches, rule_ids, platform, relevance, group, events, state } =
    row;
  const filter = { rule_ids, platform, relevance, group };
  return { name, url: shownUrl(row), format, window_seconds, max_matches, ...filter, events, state };
}

/** SQL: the end of an account's notices. */
export const noticesEndOf = (accountId: string) =>
  `coalesce((select last_position from notice_log where notice_log.account_id = ${accountId}), 0)`;

/** A running delivery no longer counts, and the next batch is built anew. */
export const startOver = `epoch = epoch + 1, suspects = '{}', batch_max = ${batchMatchesMax}`;

/** The next attempt is made at the next poll, even if a running attempt fails. */
export const retryNow = 'next_attempt_at = now(), notice_attempt_at = now()';

export async function discardBatch(sql: Sql, webhookId: string): Promise<void> {
  await sql.run('delete from webhook_batches where webhook_id = $1', [webhookId]);
}

/**
 * Removes matches that are being deleted from waiting batches. The message id stays: an endpoint that received the
 * message and ignores the duplicate misses nothing. The webhooks stay locked until the commit, so no batch with these
 * matches is stored meanwhile (begin_webhook_batch).
 */
export async function takeOutOfBatches(
  sql: Sql,
  matches: ReadonlyArray<{ readonly accountId: string; readonly position: number }>,
): Promise<void> {
  const accountIds = [...new Set(matches.map(({ accountId }) => accountId))];
  await sql.many('select 1 from webhooks where account_id = any($1) order by id for no key update', [
    accountIds,
  ]);
  const batches = await sql.many<{ webhook_id: string; body: string }>(
    `select webhook_id, body from webhook_batches batches
     where webhook_id in (select id from webhooks where account_id = any($1)) and exists (
       select 1 from unnest($2::bigint[]) as position where position between first_position and last_position)`,
    [accountIds, matches.map(({ position }) => position)],
  );
  const ids = new Set(matches.map(({ position }) => matchIdOf(position)));
  for (const batch of batches) {
    const left = withoutMatches(batch.body, ids);
    if (left === null) await discardBatch(sql, batch.webhook_id);
    else if (left.body !== batch.body)
      await sql.run('update webhook_batches set body = $2, match_count = $3 where webhook_id = $1', [
        batch.webhook_id,
        left.body,
        left.count,
      ]);
  }
}

/** The data needed to send to a webhook, or to read its matches. */
interface WebhookTarget {
  readonly url: string;
  readonly format: WebhookFormat;
  readonly ruleIds: readonly string[] | null;
  readonly platform: Platform | null;
  /** Sealed; all that are valid now, newest first. */
  readonly secrets: readonly Buffer[];
  /** The time of the database. */
  readonly foundAt: Date;
}

/** Null for another account's webhook, as for an unknown id (I7). */
export async function findWebhook(
  database: Database,
  accountId: string,
  webhookId: string,
): Promise<WebhookTarget | null> {
  return await database.forAccount(accountId).one<WebhookTarget>(
    `select url, format, rule_ids as "ruleIds", platform, now() as "foundAt",
       array_remove(array[secret, case when previous_secret_until > now() then previous_secret end], null) as secrets
     from webhooks where account_id = $1 and id = $2`,
    [accountId, webhookId],
  );
}
