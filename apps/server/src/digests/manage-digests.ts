import type { Digest, RequestOf } from '@earshot/contract';
import type { Handler } from '../accounts/call.ts';
import { type Change, lockAccount, recordChange } from '../accounts/change.ts';
import type { Database, Sql } from '../engines/database.ts';
import { databaseTime } from '../engines/database-time.ts';
import { resolveNotices } from '../notices/notice-log.sql.ts';
import { refuseUnknownRules } from '../rules/refusals.ts';
import type { Cursors, PageQuery } from '../runtime/cursor.ts';
import {
  acceptRecipients,
  acceptSchedule,
  type DigestPolicy,
  noSuchDigest,
  refuseTakenName,
  refuseUnknownWebhook,
} from './accept-digest.ts';
import { type DigestRow, scheduleOf, settingsOf, shown, toDigest } from './digests.sql.ts';
import { nextTimeMs } from './schedule.ts';

export function listDigests({
  database,
  cursors,
}: {
  readonly database: Database;
  readonly cursors: Cursors;
}): Handler<'ListDigests'> {
  return async ({ principal: { accountId }, request }) => {
    const read = ({ before, limit }: PageQuery) =>
      database.forAccount(accountId).many<DigestRow>(
        `select ${shown} from digests where account_id = $1 and ($2::text is null or id < $2)
         order by id desc limit $3`,
        [accountId, before, limit],
      );
    const page = await cursors.page({ accountId, filter: ['digests'] }, request, read, ({ id }) => id);
    return { digests: page.items.map(toDigest), next_cursor: page.next_cursor };
  };
}

export interface UpdateDigestOptions extends DigestPolicy {
  readonly database: Database;
}

export function updateDigest(options: UpdateDigestOptions): Handler<'UpdateDigest'> {
  return async ({ principal: { accountId }, request, change }) =>
    await options.database
      .forAccount(accountId)
      .transaction((sql) => update(sql, options, { request, change }));
}

/**
 * Absent fields stay. New rules apply from the next digest message, also to the time before the change. A new schedule counts from now. A new recipient gets the waiting digest message at once.
 */
async function update(
  sql: Sql,
  options: UpdateDigestOptions,
  { request, change }: { request: RequestOf<'UpdateDigest'>; change: Change },
): Promise<Digest> {
  const { accountId } = change;
  const { digest_id: digestId, schedule, recipients } = request;
  await lockAccount(sql, accountId);
  const before = await sql.one<DigestRow>(
    `select ${shown} from digests where account_id = $1 and id = $2 for update`,
    [accountId, digestId],
  );
  if (!before) throw noSuchDigest();
  const { name = before.name, min_matches = before.min_matches } = request;
  const { empty = before.empty, max_matches = before.max_matches } = request;
  const { relevance = before.relevance, group = before.grouping } = request;
  const ruleIds = request.rule_ids === undefined ? before.rule_ids : request.rule_ids;
  // A rule may have been deleted since it was chosen.
  const added = ruleIds?.filter((id) => !before.rule_ids?.includes(id)) ?? [];
  await refuseUnknownRules(sql, accountId, added);
  await refuseTakenName(sql, accountId, { name, digestId });
  const now = await databaseTime(sql);
  const { cron, timeZone, windowSeconds } = schedule
    ? acceptSchedule(schedule)
    : { cron: before.cron, timeZone: before.time_zone, windowSeconds: before.window_seconds };
  const { webhookId, emails } = recipients
    ? acceptRecipients(recipients, options)
    : { webhookId: before.webhook_id, emails: before.emails };
  await refuseUnknownWebhook(sql, accountId, webhookId);
  const changed = {
    cron,
    time_zone: timeZone,
    window_seconds: windowSeconds,
    created_at: before.created_at,
  };
  const nextAt = schedule ? new Date(nextTimeMs(scheduleOf(changed), now.getTime())) : before.next_at;
  const row = await sql.one<DigestRow>(
    `update digests set name = $2, cron = $3, time_zone = $4, window_seconds = $5, webhook_id = $6, emails = $7,
       min_matches = $8, empty = $9, max_matches = $10, next_at = $11, updated_at = $12, rule_ids = $13, relevance = $14, grouping = $15
       ${recipients ? ', problem = null' : ''}
     where id = $1 returning ${shown}`,
    [digestId, name, cron, timeZone, windowSeconds, webhookId, emails]
      .concat([min_matches, empty, max_matches])
      .concat([nextAt.toISOString(), now.toISOString()])
      .concat([ruleIds, relevance, group]),
  );
  if (recipients)
    await sql.run('update digest_messages set next_attempt_at = now() where digest_id = $1', [digestId]);
  const answer = toDigest(row ?? before);
  const after = settingsOf(row ?? before);
  await recordChange(sql, change, { targetId: digestId, before: settingsOf(before), after, answer });
  return answer;
}

export function deleteDigest({ database }: { readonly database: Database }): Handler<'DeleteDigest'> {
  return ({ request: { digest_id }, change }) =>
    database.forAccount(change.accountId).transaction(async (sql) => {
      const row = await sql.one<DigestRow & { deleted_at: Date }>(
        `delete from digests where account_id = $1 and id = $2 returning ${shown}, now() as deleted_at`,
        [change.accountId, digest_id],
      );
      if (!row) throw noSuchDigest();
      const answer = { digest_id, deleted_at: row.deleted_at.toISOString() };
      await recordChange(sql, change, {
        targetId: digest_id,
        before: settingsOf(row),
        after: null,
        answer,
      });
      await resolveNotices(sql, { types: ['digest.failing'], subject: { kind: 'digest', id: digest_id } });
      return answer;
    });
}
