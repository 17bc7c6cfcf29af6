import type { WebhookFormat } from '@earshot/contract';
import { limitOf, ofPlan } from '../accounts/plans.ts';
import type { Database, Sql } from '../engines/database.ts';
import { clockFrom } from '../engines/database-time.ts';
import { raiseNotices, resolveNotices } from '../notices/notice-log.sql.ts';
import { newId } from '../runtime/ids.ts';
import type { DigestRange } from './counts.sql.ts';

/** An issue that this node alone may send, for two minutes. */
export interface LeasedIssue extends DigestRange {
  readonly lease: string;
  readonly digestId: string;
  readonly name: string;
  readonly timeZone: string;
  readonly maxMatches: number;
  readonly messageId: string;
  readonly number: number;
  readonly from: Date;
  readonly to: Date;
  readonly madeAt: Date;
  /** The time of the database, counted on from the lease. */
  readonly nowMs: () => number;
  readonly failures: number;
  readonly webhook: WebhookRecipient | null;
  /** Null for a webhook. */
  readonly emails: readonly string[] | null;
  /** Mails that the account may send per UTC day. */
  readonly mailsPerDay: number;
}

export interface WebhookRecipient {
  readonly id: string;
  readonly url: string;
  readonly format: WebhookFormat;
  readonly state: string;
  /** Sealed; all that are valid now, the newest first. */
  readonly secrets: readonly Buffer[];
}

/** What became of an attempt. */
export type IssueOutcome =
  /** `problem`: of recipients that were refused while others were accepted. */
  | { readonly kind: 'sent'; readonly problem: string | null }
  | { readonly kind: 'failed'; readonly problem: string; readonly retryInMs: number }
  | { readonly kind: 'given_up'; readonly problem: string };

/** Longer than an attempt can take. */
const leaseSeconds = 120;
const noLease = `lease = null, lease_until = '-infinity'`;
const isOurs = 'digest_id = $1 and lease = $2';

export type IssueStore = ReturnType<typeof createIssueStore>;

export function createIssueStore(database: Database) {
  return {
    leaseDue: (max: number) => leaseDue(database, max),
    /** Not an attempt: what it has to say is not known yet. */
    async putOff({ digestId, lease }: LeasedIssue, forMs: number): Promise<void> {
      await database.run(
        `update digest_issues set next_attempt_at = now() + $3 * interval '1 ms', ${noLease} where ${isOurs}`,
        [digestId, lease, forMs],
      );
    },
    /** Counts the mails of an attempt before they are sent. False when the account has too few left on this day. */
    countMails: (issue: LeasedIssue, mails: CountedMails) =>
      database.transaction((sql) => countMails(sql, issue, mails)),
    /** Records the attempt, and ends the lease. True when the owner is told something. */
    finish: (issue: LeasedIssue, outcome: IssueOutcome) =>
      database.transaction((sql) => finish(sql, issue, outcome)),
    async release({ digestId, lease }: LeasedIssue): Promise<void> {
      await database.run(`update digest_issues set ${noLease} where ${isOurs}`, [digestId, lease]);
    },
  };
}

interface CountedMails {
  readonly to: readonly string[];
  /** The UTC day. */
  readonly day: string;
}

/**
 * Each address counts once per issue, so that a retry costs nothing and another recipient does. The lock on the day's row
 * decides between nodes that count at the same time.
 */
async function countMails(
  sql: Sql,
  { digestId, lease, accountId, mailsPerDay }: LeasedIssue,
  { to, day }: CountedMails,
): Promise<boolean> {
  const issue = await sql.one<{ counted: string[] }>(
    `select counted_emails as counted from digest_issues where ${isOurs} for update`,
    [digestId, lease],
  );
  if (!issue) throw new Error('the issue was deleted, or another node has leased it');
  const uncounted = to.filter((address) => !issue.counted.includes(address));
  if (uncounted.length === 0) return true;
  const taken = await sql.run(
    `insert into digest_mails as known (account_id, day, mails)
     select $1, $2::date, $3::integer where $3::integer <= $4::integer
     on conflict (account_id, day) do update set mails = known.mails + $3 where known.mails + $3 <= $4`,
    [accountId, day, uncounted.length, mailsPerDay],
  );
  if (taken === 0) return false;
  await sql.run(`update digest_issues set counted_emails = counted_emails || $3::text[] where ${isOurs}`, [
    digestId,
    lease,
    uncounted,
  ]);
  return true;
}

interface IssueRow extends Omit<LeasedIssue, 'lease' | 'webhook' | 'nowMs'> {
  readonly leasedAt: Date;
  readonly webhookId: string | null;
  readonly url: string | null;
  readonly format: WebhookFormat | null;
  readonly state: string | null;
  readonly secrets: Buffer[] | null;
}

async function leaseDue(database: Database, max: number): Promise<LeasedIssue[]> {
  const lease = newId('snd');
  const rows = await database.prepared<IssueRow>(
    `with due as (
       select digest_id from digest_issues
       where next_attempt_at <= now() and lease_until < now()
         and account_id not in (select accounts.id from accounts where suspended_at is not null)
       order by next_attempt_at limit $2 for update skip locked
     ), leased as (
       update digest_issues set lease = $1, lease_until = now() + interval '${leaseSeconds} seconds'
       from due where digest_issues.digest_id = due.digest_id returning digest_issues.*
     )
     select leased.digest_id as "digestId", leased.account_id as "accountId", digests.name, digests.rule_id as "ruleId",
       digests.platform, coalesce(digests.time_zone, 'UTC') as "timeZone", max_matches as "maxMatches",
       message_id as "messageId", number, position_from as "positionFrom", position_to as "positionTo", from_at as "from",
       to_at as "to", made_at as "madeAt", now() as "leasedAt", leased.failures, digests.emails, webhooks.id as "webhookId", url, format, state,
       ${limitOf('mails')} as "mailsPerDay",
       array_remove(array[secret, case when previous_secret_until > now() then previous_secret end], null) as secrets
     from leased join digests on digests.id = digest_id
       join accounts on accounts.id = leased.account_id join ${ofPlan} left join webhooks on webhooks.id = digests.webhook_id`,
    [lease, max],
  );
  return rows.map(({ webhookId, url, format, state, secrets, leasedAt, ...issue }) => ({
    ...issue,
    nowMs: clockFrom(leasedAt),
    lease,
    webhook:
      webhookId === null
        ? null
        : {
            id: webhookId,
            url: url ?? '',
            format: format ?? 'standard',
            state: state ?? '',
            secrets: secrets ?? [],
          },
  }));
}

/** Of a failure the owner is told when it has lasted this long. */
const failingToTellMs = 5 * 60_000;

async function finish(sql: Sql, issue: LeasedIssue, outcome: IssueOutcome): Promise<boolean> {
  const { digestId, lease, accountId, number } = issue;
  const isLeft = outcome.kind === 'failed';
  const written = await sql.run(
    isLeft
      ? `update digest_issues set failures = failures + 1, next_attempt_at = now() + $3 * interval '1 ms', ${noLease} where ${isOurs}`
      : `delete from digest_issues where ${isOurs}`,
    [digestId, lease, ...(isLeft ? [outcome.retryInMs] : [])],
  );
  if (written === 0) return false;
  await sql.run(
    'update digests set problem = $2, last_sent_at = case when $3 then now() else last_sent_at end where id = $1',
    [digestId, outcome.problem, outcome.kind === 'sent'],
  );
  const subject = { kind: 'digest', id: digestId, name: issue.name } as const;
  if (outcome.kind === 'sent')
    return (await resolveNotices(sql, { types: ['digest.failing'], subject })).length > 0;
  const { problem } = outcome;
  if (outcome.kind === 'given_up') {
    const data = {
      number,
      from: issue.from.toISOString(),
      to: issue.to.toISOString(),
      problem,
    };
    return (
      (await raiseNotices(sql, [accountId], {
        type: 'digest.given_up',
        subject,
        key: String(number),
        data,
      })) > 0
    );
  }
  if (issue.nowMs() - issue.madeAt.getTime() < failingToTellMs) return false;
  const data = { number, failing_since: issue.madeAt.toISOString(), problem };
  return (await raiseNotices(sql, [accountId], { type: 'digest.failing', subject, data })) > 0;
}

/** Keeps the counts of mails for two days. */
export async function forgetMails(database: Database): Promise<void> {
  await database.run("delete from digest_mails where day < (now() at time zone 'UTC')::date - 2");
}
