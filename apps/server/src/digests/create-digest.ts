import type { Handler } from '../accounts/call.ts';
import { lockAccount, recordChange } from '../accounts/change.ts';
import type { Database, Sql } from '../engines/database.ts';
import { databaseTime } from '../engines/database-time.ts';
import { refuseUnknownRules } from '../rules/refusals.ts';
import { Failure } from '../runtime/failure.ts';
import { newId } from '../runtime/ids.ts';
import {
  acceptRecipients,
  acceptSchedule,
  type DigestPolicy,
  refuseTakenName,
  refuseUnknownWebhook,
} from './accept-digest.ts';
import { type DigestRow, scheduleOf, settingsOf, shown, toDigest } from './digests.sql.ts';
import { nextTimeMs } from './schedule.ts';

export interface CreateDigestOptions extends DigestPolicy {
  readonly database: Database;
}

/** The digest begins at the end of the match log. */
export function createDigest(options: CreateDigestOptions): Handler<'CreateDigest'> {
  const { database, contact } = options;
  return async ({ principal, request, change }) => {
    const { accountId } = principal;
    const { name, min_matches, empty, max_matches, rule_ids: ruleIds = null, platform = null } = request;
    const { relevance = 'all', group = null } = request;
    const { cron, timeZone, windowSeconds } = acceptSchedule(request.schedule);
    const { webhookId, emails } = acceptRecipients(request.recipients, options);
    const id = newId('dig');
    return await database.forAccount(accountId).transaction(async (sql) => {
      await lockAccount(sql, accountId);
      await refuseUnknownRules(sql, accountId, ruleIds ?? []);
      await refuseTakenName(sql, accountId, { name, digestId: id });
      await refuseTooMany(sql, accountId, { digestsMax: principal.limits.digests, contact });
      await refuseUnknownWebhook(sql, accountId, webhookId);
      const now = await databaseTime(sql);
      const created = { cron, time_zone: timeZone, window_seconds: windowSeconds, created_at: now };
      const nextAt = new Date(nextTimeMs(scheduleOf(created), now.getTime()));
      const row = await sql.one<DigestRow>(
        `insert into digests (id, account_id, name, rule_ids, platform, cron, time_zone, window_seconds, webhook_id, emails,
           min_matches, empty, max_matches, relevance, grouping, next_at, created_at, updated_at, covered_until, position)
         select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $16, $17, $14, $15, $15, $15, last_position from match_log
         returning ${shown}`,
        [id, accountId, name, ruleIds, platform, cron, timeZone, windowSeconds, webhookId, emails]
          .concat([min_matches, empty, max_matches])
          .concat([nextAt.toISOString(), now.toISOString(), relevance])
          .concat([group]),
      );
      if (!row) throw new Error('there is no match log');
      const answer = toDigest(row);
      await recordChange(sql, change, { targetId: id, before: null, after: settingsOf(row), answer });
      return answer;
    });
  };
}

async function refuseTooMany(
  sql: Sql,
  accountId: string,
  { digestsMax, contact }: { digestsMax: number; contact: string },
): Promise<void> {
  const count = await sql.one<{ used: number }>(
    'select count(*) as used from digests where account_id = $1',
    [accountId],
  );
  const used = count?.used ?? 0;
  if (used < digestsMax) return;
  throw new Failure(
    'resource_exhausted',
    `The account has ${used} of ${digestsMax} digests. Delete one, or ask ${contact} for more.`,
    { details: { reason: 'plan_limit', limit: digestsMax, used, contact } },
  );
}
