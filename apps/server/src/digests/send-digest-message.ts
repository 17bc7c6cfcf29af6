import { isChatFormat } from '@earshot/contract';
import type { Bells } from '../engines/bells.ts';
import type { Telemetry } from '../observability/telemetry.ts';
import type { Checkpoint } from '../runtime/checkpoint.ts';
import { secretUnreadable } from '../webhooks/endpoint-state.ts';
import type { SecretBox } from '../webhooks/secrets.ts';
import { type SendOptions, sendMessage } from '../webhooks/send-message.ts';
import { isAllowed } from './accept-digest.ts';
import type {
  DigestMessageOutcome,
  DigestMessageStore,
  LeasedDigestMessage,
  WebhookRecipient,
} from './digest-messages.sql.ts';
import type { Mailer } from './mailer.ts';
import { type ContentOptions, type DigestContent, readContent } from './message-content.ts';
import { chatDigestOf } from './render-chat.ts';
import { renderMail } from './render-mail.ts';

export interface SendDigestMessageOptions extends ContentOptions, Omit<SendOptions, 'secretBox'> {
  readonly store: DigestMessageStore;
  /** Null if the operator has not configured a key for secrets. */
  readonly secretBox: SecretBox | null;
  /** Null if the operator has not configured a mail server. */
  readonly mailer: Mailer | null;
  readonly mailRecipients: readonly string[];
  readonly bells: Bells;
  readonly telemetry: Telemetry;
  readonly checkpoint: Checkpoint;
}

/** The result of an attempt; `problem` may also name refused recipients. */
interface SendResult {
  readonly isAccepted: boolean;
  readonly problem: string | null;
}

/** A digest message waits this long for coverage of its period, which usually takes seconds. */
const knownWithinMs = 2 * 60_000;
const pollIntervalMs = 2_000;
/** After this, a digest message is given up and the next one is made. */
const givenUpAfterMs = 24 * 3_600_000;
const waitsMs = [5_000, 60_000, 5 * 60_000, 15 * 60_000, 3_600_000];

/**
 * One attempt to send a digest message. Its content is read now, so removed matches are absent. After a crash it is
 * sent again, with the same message id and range.
 */
export function createSendDigestMessage(options: SendDigestMessageOptions) {
  const { store, bells, telemetry, checkpoint } = options;
  return async (leased: LeasedDigestMessage): Promise<void> => {
    checkpoint('digest.claimed');
    const { content, isKnown } = await readContent(options, leased);
    if (!isKnown && ageMs(leased) < knownWithinMs) {
      await store.putOff(leased, pollIntervalMs);
      return;
    }
    const sent = await send(options, leased, content);
    checkpoint('digest.sent');
    const outcome = outcomeOf(leased, sent);
    if (await store.finish(leased, outcome)) bells.ring('notices');
    checkpoint('digest.recorded');
    const { digestId, accountId, number, failures } = leased;
    telemetry.digestAttempted({
      digestId,
      accountId,
      number,
      outcome: outcome.kind,
      failures,
      matches: content.total,
      // Refused recipients among accepted ones are not logged.
      problem: sent.isAccepted ? null : sent.problem,
    });
  };
}

const ageMs = ({ nowMs, madeAt }: LeasedDigestMessage) => nowMs() - madeAt.getTime();

function outcomeOf(leased: LeasedDigestMessage, { isAccepted, problem }: SendResult): DigestMessageOutcome {
  if (isAccepted) return { kind: 'sent', problem };
  const why = problem ?? 'not accepted';
  if (ageMs(leased) >= givenUpAfterMs) return { kind: 'given_up', problem: why };
  const retryInMs = waitsMs[Math.min(leased.failures, waitsMs.length - 1)] ?? 0;
  return { kind: 'failed', problem: why, retryInMs };
}

async function send(
  options: SendDigestMessageOptions,
  leased: LeasedDigestMessage,
  content: DigestContent,
): Promise<SendResult> {
  const { webhook } = leased;
  if (webhook !== null) return await sendToWebhook(options, webhook, { leased, content });
  return await sendMail(options, leased, content);
}

/** Sends it in the format of the webhook, signed like its other messages. */
async function sendToWebhook(
  { secretBox, ...options }: SendDigestMessageOptions,
  { id: webhookId, state, ...webhook }: WebhookRecipient,
  { leased: { messageId, nowMs }, content }: { leased: LeasedDigestMessage; content: DigestContent },
): Promise<SendResult> {
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

const unreadable = { isAccepted: false, problem: 'The service cannot read the signing secret.' };

/** Sends one mail to all recipients. If the mail server permanently refuses some of them, the owner is notified. */
async function sendMail(
  { mailer, mailRecipients, store }: SendDigestMessageOptions,
  leased: LeasedDigestMessage,
  content: DigestContent,
): Promise<SendResult> {
  const emails = leased.emails ?? [];
  if (mailer === null) return { isAccepted: false, problem: 'Mail is not set up on this installation.' };
  const to = emails.filter((address) => isAllowed({ recipients: mailRecipients }, address));
  if (to.length === 0)
    return {
      isAccepted: false,
      problem: 'The operator of the service no longer allows mails to these addresses.',
    };
  const day = new Date(leased.nowMs()).toISOString().slice(0, 10);
  if (!(await store.countMails(leased, { to, day })))
    return {
      isAccepted: false,
      problem: `The account may send ${leased.mailsPerDay} mails a day, and too few are left for ${day} (UTC). The message waits for the next day.`,
    };
  try {
    const { messageId, digestId } = leased;
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

/** Shown to the owner. Excludes the server's own text, which may name internal hosts. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  if ('responseCode' in error && typeof error.responseCode === 'number') return String(error.responseCode);
  const code = 'code' in error ? String(error.code) : '';
  return /^[A-Z][A-Z0-9_]{2,60}$/.test(code) ? code : 'the connection failed';
}
