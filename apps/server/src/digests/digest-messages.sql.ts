import type { Digest, RelevanceFilter, WebhookFormat } from '@earshot/contract';
import { limitOf, ofPlan } from '../accounts/plans.ts';
import type { Database, Sql } from '../engines/database.ts';
import { clockFrom } from '../engines/database-time.ts';
import { raiseNotices, resolveNotices } from '../notices/notice-log.sql.ts';
import { newId } from '../runtime/ids.ts';
import type { DigestRange } from './counts.sql.ts';

/** A digest message that only this node may send, for two minutes. */
export interface LeasedDigestMessage extends DigestRange {
  readonly lease: string;
  readonly digestId: string;
  readonly name: string;
  readonly timeZone: string;
  readonly relevance: RelevanceFilter;
  readonly grouping: Digest['group'];
  readonly maxMatches: number;
  readonly messageId: string;
  readonly number: number;
  readonly from: Date;
  readonly to: Date;
  readonly madeAt: Date;
  /** The time of the database, extrapolated from the lease. */
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
  /** Sealed; all that are valid now, newest first. */
  readonly secrets: readonly Buffer[];
}

/** The result of an attempt. */
export type DigestMessageOutcome =
  /** `problem` names recipients that were refused while others were accepted. */
  | { readonly kind: 'sent'; readonly problem: string | null }
  | { readonly kind: 'failed'; readonly problem: string; readonly retryInMs: number }
  | { readonly kind: 'given_up'; readonly problem: string };

/** Longer than an attempt can take. */
const leaseSeconds = 120;
const noLease = `lease = null, lease_until = '-infinity'`;
const isOurs = 'digest_id = $1 and lease = $2';

export type DigestMessageStore = ReturnType<typeof createDigestMessageStore>;

export function createDigestMessageStore(database: Database) {
  return {
    leaseDue: (max: number) => leaseDue(database, max),
    /** Postpones the message because its content is not known yet. Does not count as an attempt. */
    async putOff({ digestId, lease }: LeasedDigestMessage, forMs: number): Promise<void> {
      await database.run(
        `update digest_messages set next_attempt_at = now() + $3 * interval '1 ms', ${noLease} where ${isOurs}`,
        [digestId, lease, forMs],
      );
    },
    /** Counts the mails of an attempt before they are sent. False if the account has too few left today. */
    countMails: (leased: LeasedDigestMessage, mails: CountedMails) =>
      database.transaction((sql) => countMails(sql, leased, mails)),
    /** Records the attempt and ends the lease. True if the owner gets a notice. */
    finish: (leased: LeasedDigestMessage, outcome: DigestMessageOutcome) =>
      database.transaction((sql) => finish(sql, leased, outcome)),
    async release({ digestId, lease }: LeasedDigestMessage): Promise<void> {
      await database.run(`update digest_messages set ${noLease} where ${isOurs}`, [digestId, lease]);
    },
  };
}

interface CountedMails {
  readonly to: readonly string[];
  /** The UTC day. */
  readonly day: string;
}

/**
 * Each address counts once per digest message, so a retry costs nothing. The lock on the day's row serialises nodes
 * that count at the same time.
 */
async function countMails(
  sql: Sql,
  { digestId, lease, accountId, mailsPerDay }: LeasedDigestMessage,
  { to, day }: CountedMails,
): Promise<boolean> {
  const row = await sql.one<{ counted: string[] }>(
    `select counted_emails as counted from digest_messages where ${isOurs} for update`,
    [digestId, lease],
  );
  if (!row) throw new Error('the digest message was deleted, or another node has leased it');
  const uncounted = to.filter((address) => !row.counted.includes(address));
  if (uncounted.length === 0) return true;
  const taken = await sql.run(
    `insert into digest_mails as known (account_id, day, mails)
     select $1, $2::date, $3::integer where $3::integer <= $4::integer
     on conflict (account_id, day) do update set mails = known.mails + $3 where known.mails + $3 <= $4`,
    [accountId, day, uncounted.length, mailsPerDay],
  );
  if (taken === 0) return false;
  await sql.run(`update digest_messages set counted_emails = counted_emails || $3::text[] where ${isOurs}`, [
    digestId,
    lease,
    uncounted,
  ]);
  return true;
}

interface DigestMessageRow extends Omit<LeasedDigestMessage, 'lease' | 'webhook' | 'nowMs'> {
  readonly leasedAt: Date;
  readonly webhookId: string | null;
  readonly url: string | null;
  readonly format: WebhookFormat | null;
  readonly state: string | null;
  readonly secrets: Buffer[] | null;
}

async function leaseDue(database: Database, max: number): Promise<LeasedDigestMessage[]> {
  const lease = newId('snd');
  const rows = await database.prepared<DigestMessageRow>(
    `with due as (
       select digest_id from digest_messages
       where next_attempt_at <= now() and lease_until < now()
         and account_id not in (select accounts.id from accounts where suspended_at is not null)
       order by next_attempt_at limit $2 for update skip locked
     ), leased as (
       update digest_messages set lease = $1, lease_until = now() + interval '${leaseSeconds} seconds'
       from due where digest_messages.digest_id = due.digest_id returning digest_messages.*
     )
     select leased.digest_id as "digestId", leased.account_id as "accountId", digests.name, digests.rule_ids as "ruleIds",
       digests.platform, digests.relevance, digests.grouping, coalesce(digests.time_zone, 'UTC') as "timeZone", digests.max_matches as "maxMatches",
       message_id as "messageId", number, position_from as "positionFrom", position_to as "positionTo", from_at as "from",
       to_at as "to", made_at as "madeAt", now() as "leasedAt", leased.failures, digests.emails, webhooks.id as "webhookId", url, format, state,
       ${limitOf('mails')} as "mailsPerDay",
       array_remove(array[secret, case when previous_secret_until > now() then previous_secret end], null) as secrets
     from leased join digests on digests.id = digest_id
       join accounts on accounts.id = leased.account_id join ${ofPlan} left join webhooks on webhooks.id = digests.webhook_id`,
    [lease, max],
  );
  return rows.map(({ webhookId, url, format, state, secrets, leasedAt, ...leased }) => ({
    ...leased,
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

/** The owner gets a notice when a failure has lasted this long. */
const noticeAfterMs = 5 * 60_000;

async function finish(
  sql: Sql,
  leased: LeasedDigestMessage,
  outcome: DigestMessageOutcome,
): Promise<boolean> {
  const { digestId, lease, accountId, number } = leased;
  const isLeft = outcome.kind === 'failed';
  const written = await sql.run(
    isLeft
      ? `update digest_messages set failures = failures + 1, next_attempt_at = now() + $3 * interval '1 ms', ${noLease} where ${isOurs}`
      : `delete from digest_messages where ${isOurs}`,
    [digestId, lease, ...(isLeft ? [outcome.retryInMs] : [])],
  );
  if (written === 0) return false;
  await sql.run(
    'update digests set problem = $2, last_sent_at = case when $3 then now() else last_sent_at end where id = $1',
    [digestId, outcome.problem, outcome.kind === 'sent'],
  );
  const subject = { kind: 'digest', id: digestId, name: leased.name } as const;
  if (outcome.kind === 'sent')
    return (await resolveNotices(sql, { types: ['digest.failing'], subject })).length > 0;
  const { problem } = outcome;
  if (outcome.kind === 'given_up') {
    const data = {
      number,
      from: leased.from.toISOString(),
      to: leased.to.toISOString(),
      message: problem,
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
  if (leased.nowMs() - leased.madeAt.getTime() < noticeAfterMs) return false;
  const data = { number, failing_since: leased.madeAt.toISOString(), message: problem };
  return (await raiseNotices(sql, [accountId], { type: 'digest.failing', subject, data })) > 0;
}

/** Keeps mail counts for two days. */
export async function forgetMails(database: Database): Promise<void> {
  await database.run("delete from digest_mails where day < (now() at time zone 'UTC')::date - 2");
}
