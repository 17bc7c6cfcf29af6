import { isChatFormat } from '@earshot/contract';
import type { Bells } from '../engines/bells.ts';
import type { Telemetry } from '../observability/telemetry.ts';
import type { Checkpoint } from '../runtime/checkpoint.ts';
import { secretUnreadable } from '../webhooks/endpoint-state.ts';
import type { SecretBox } from '../webhooks/secrets.ts';
import { type SendOptions, sendMessage } from '../webhooks/send-message.ts';
import { isAllowed } from './accept-digest.ts';
import { type ContentOptions, type DigestContent, readContent } from './issue-content.ts';
import type { IssueOutcome, IssueStore, LeasedIssue, WebhookRecipient } from './issues.sql.ts';
import type { Mailer } from './mailer.ts';
import { chatDigestOf } from './render-chat.ts';
import { renderMail } from './render-mail.ts';

export interface SendIssueOptions extends ContentOptions, Omit<SendOptions, 'secretBox'> {
  readonly store: IssueStore;
  /** Null when the operator has not configured a key for secrets. */
  readonly secretBox: SecretBox | null;
  /** Null when the operator has not configured a mail server. */
  readonly mailer: Mailer | null;
  readonly mailRecipients: readonly string[];
  readonly bells: Bells;
  readonly telemetry: Telemetry;
  readonly checkpoint: Checkpoint;
}

/** An attempt that was not accepted, or not by all. */
interface Sent {
  readonly isAccepted: boolean;
  readonly problem: string | null;
}

/** So long an issue waits for the ledger to reach the end of its period, which usually takes seconds. */
const knownWithinMs = 2 * 60_000;
const lookAgainMs = 2_000;
/** After that an issue is given up, and the next one is made. */
const givenUpAfterMs = 24 * 3_600_000;
const waitsMs = [5_000, 60_000, 5 * 60_000, 15 * 60_000, 3_600_000];

/**
 * One attempt at an issue. It says what is there now: a match that was removed since the issue was made is not in it. A crash between
 * the sending and the recording sends it again, under the same message id and about the same range.
 */
export function createSendIssue(options: SendIssueOptions) {
  const { store, bells, telemetry, checkpoint } = options;
  return async (issue: LeasedIssue): Promise<void> => {
    checkpoint('digest.claimed');
    const { content, isKnown } = await readContent(options, issue);
    if (!isKnown && ageMs(issue) < knownWithinMs) {
      await store.putOff(issue, lookAgainMs);
      return;
    }
    const sent = await send(options, issue, content);
    checkpoint('digest.sent');
    const outcome = outcomeOf(issue, sent);
    if (await store.finish(issue, outcome)) bells.ring('notices');
    checkpoint('digest.recorded');
    const { digestId, accountId, number, failures } = issue;
    telemetry.digestAttempted({
      digestId,
      accountId,
      number,
      outcome: outcome.kind,
      failures,
      matches: content.total,
      // Who was refused, while others got it, is nothing for the log.
      problem: sent.isAccepted ? null : sent.problem,
    });
  };
}

const ageMs = ({ nowMs, madeAt }: LeasedIssue) => nowMs() - madeAt.getTime();

function outcomeOf(issue: LeasedIssue, { isAccepted, problem }: Sent): IssueOutcome {
  if (isAccepted) return { kind: 'sent', problem };
  const why = problem ?? 'not accepted';
  if (ageMs(issue) >= givenUpAfterMs) return { kind: 'given_up', problem: why };
  const retryInMs = waitsMs[Math.min(issue.failures, waitsMs.length - 1)] ?? 0;
  return { kind: 'failed', problem: why, retryInMs };
}

async function send(options: SendIssueOptions, issue: LeasedIssue, content: DigestContent): Promise<Sent> {
  const { webhook } = issue;
  if (webhook !== null) return await sendToWebhook(options, webhook, { issue, content });
  return await sendMail(options, issue, content);
}

/** In the format of the webhook, signed as every message of it. */
async function sendToWebhook(
  { secretBox, ...options }: SendIssueOptions,
  { id: webhookId, state, ...webhook }: WebhookRecipient,
  { issue: { messageId, nowMs }, content }: { issue: LeasedIssue; content: DigestContent },
): Promise<Sent> {
  if (state !== 'active') return { isAccepted: false, problem: `The webhook is ${state}.` };
  if (secretBox === null) return unreadable;
  const message = isChatFormat(webhook.format)
    ? chatDigestOf(content)
    : { type: 'digest', webhook_id: webhookId, ...content };
  const attempt = await sendMessage(
    { ...options, secretBox },
    { webhookId, ...webhook },
    { messageId, body: JSON.stringify(message) },
    { nowMs: nowMs() },
  );
  const { outcome, status, message: failure } = attempt;
  if (outcome.kind === 'delivered') return { isAccepted: true, problem: null };
  if (attempt === secretUnreadable) return unreadable;
  return {
    isAccepted: false,
    problem: `The endpoint did not accept it: ${status ?? failure ?? 'no answer'}.`,
  };
}

const unreadable = { isAccepted: false, problem: 'The signing secret cannot be read by the service.' };

/** One mail for all recipients. Those whom the mail server refuses for good, while it takes others, are told to the owner. */
async function sendMail(
  { mailer, mailRecipients, store }: SendIssueOptions,
  issue: LeasedIssue,
  content: DigestContent,
): Promise<Sent> {
  const emails = issue.emails ?? [];
  if (mailer === null) return { isAccepted: false, problem: 'Mail is not set up on this installation.' };
  const to = emails.filter((address) => isAllowed({ recipients: mailRecipients }, address));
  if (to.length === 0)
    return {
      isAccepted: false,
      problem: 'The operator of the service no longer allows mails to these addresses.',
    };
  const day = new Date(issue.nowMs()).toISOString().slice(0, 10);
  if (!(await store.countMails(issue, { to, day })))
    return {
      isAccepted: false,
      problem: `The account may send ${issue.mailsPerDay} mails a day, and too few are left for ${day} (UTC). The message waits for the next day.`,
    };
  try {
    const { messageId, digestId } = issue;
    const refused = await mailer.send({ messageId, digestId, to, ...renderMail(content) });
    const missed = [...emails.filter((address) => !to.includes(address)), ...refused];
    return {
      isAccepted: true,
      problem: missed.length === 0 ? null : `Not accepted for ${missed.join(', ')}.`,
    };
  } catch (error) {
    return { isAccepted: false, problem: `The mail server did not accept it: ${describe(error)}.` };
  }
}

/** For the owner: no words of the server, which may name hosts of the operator's network. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  if ('responseCode' in error && typeof error.responseCode === 'number') return String(error.responseCode);
  const code = 'code' in error ? String(error.code) : '';
  return /^[A-Z][A-Z0-9_]{2,60}$/.test(code) ? code : 'the connection failed';
}
