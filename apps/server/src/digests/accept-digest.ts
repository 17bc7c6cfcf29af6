import type { RequestOf } from '@earshot/contract';
import type { Sql } from '../engines/database.ts';
import { badField, Failure } from '../runtime/failure.ts';
import { noSuchWebhook } from '../webhooks/refusals.ts';
import { cronProblem } from './schedule.ts';

/** The mail settings of an installation. */
export interface MailPolicy {
  /** False while the operator has not configured a mail server. */
  readonly isSetUp: boolean;
  /** Addresses, and domains that begin with `@`, in lower case. */
  readonly recipients: readonly string[];
}

export interface DigestPolicy {
  readonly mail: MailPolicy;
  readonly contact: string;
}

interface ScheduleColumns {
  readonly cron: string | null;
  readonly timeZone: string | null;
  readonly windowSeconds: number | null;
}

export function acceptSchedule(asked: RequestOf<'CreateDigest'>['schedule']): ScheduleColumns {
  if (asked.cron === undefined)
    return { cron: null, timeZone: null, windowSeconds: asked.window_seconds ?? null };
  const { cron, time_zone: timeZone = 'UTC' } = asked;
  const problem = cronProblem(cron, timeZone);
  if (problem !== null) throw badField(`schedule.${problem.field}`, problem.message);
  return { cron, timeZone, windowSeconds: null };
}

interface RecipientColumns {
  readonly webhookId: string | null;
  readonly emails: readonly string[] | null;
}

export function acceptRecipients(
  asked: RequestOf<'CreateDigest'>['recipients'],
  { mail, contact }: DigestPolicy,
): RecipientColumns {
  if (asked.email === undefined) return { webhookId: asked.webhook_id ?? null, emails: null };
  if (!mail.isSetUp) throw noMail(contact);
  asked.email.forEach((address, index) => {
    if (isAllowed(mail, address)) return;
    const message = `The operator does not allow mails to this address. Ask ${contact}.`;
    throw badField(`recipients.email[${index}]`, message);
  });
  return { webhookId: null, emails: [...new Set(asked.email)] };
}

/** Also checked before every mail, because the operator may have changed the list. */
export function isAllowed({ recipients }: Pick<MailPolicy, 'recipients'>, address: string): boolean {
  const lower = address.toLowerCase();
  return recipients.includes(lower) || recipients.includes(lower.slice(lower.lastIndexOf('@')));
}

/**
 * The account is locked, so the webhook cannot be deleted meanwhile. Another account's webhook is treated as unknown
 * (I7).
 */
export async function refuseUnknownWebhook(
  sql: Sql,
  accountId: string,
  webhookId: string | null,
): Promise<void> {
  if (webhookId === null) return;
  const found = await sql.one('select 1 from webhooks where account_id = $1 and id = $2', [
    accountId,
    webhookId,
  ]);
  if (!found) throw noSuchWebhook();
}

export async function refuseTakenName(
  sql: Sql,
  accountId: string,
  { name, digestId }: { name: string; digestId: string },
): Promise<void> {
  const taken = await sql.one('select 1 from digests where account_id = $1 and name = $2 and id <> $3', [
    accountId,
    name,
    digestId,
  ]);
  if (taken)
    throw new Failure('already_exists', `The name ${JSON.stringify(name)} is in use. Choose another name.`);
}

/** The same answer, to the byte, for an unknown id, a deleted digest and another account's (I7). */
export function noSuchDigest(): Failure {
  return new Failure('not_found', 'The digest does not exist. List your digests to see their ids.');
}

/** Only the operator can fix this; the caller can use a webhook instead. */
function noMail(contact: string): Failure {
  return new Failure(
    'failed_precondition',
    `Mail is not set up on this installation: EARSHOT_SMTP_URL or EARSHOT_MAIL_FROM is missing. Ask ${contact}, or send the digest to a webhook.`,
    { details: { reason: 'not_configured', contact } },
  );
}
