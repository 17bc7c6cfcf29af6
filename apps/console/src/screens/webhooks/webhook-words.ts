import type { StatusKind } from '../../parts/status-kind.ts';
import type { Delivery, Webhook } from './deliveries.ts';

export const formatNames = {
  standard: 'Standard Webhooks',
  cloudevents: 'CloudEvents',
  slack: 'Slack',
  discord: 'Discord',
  teams: 'Microsoft Teams',
} as const satisfies Record<Webhook['format'], string>;

/** Chats check no signature. */
export function isChat({ format }: Pick<Webhook, 'format'>): boolean {
  return format === 'slack' || format === 'discord' || format === 'teams';
}

/** The window of a program that its owner has not changed. */
const usualWindowSeconds = 1;

/** Such as `Slack, at most one message in 60 s`. */
export function formatWords({ format, window_seconds }: Pick<Webhook, 'format' | 'window_seconds'>): string {
  const name = formatNames[format];
  return window_seconds <= usualWindowSeconds ? name : `${name}, at most one message in ${window_seconds} s`;
}

export interface WebhookStatus {
  readonly kind: StatusKind;
  readonly words: string;
  readonly whatToDo: string | null;
}

/** The status of a webhook, and what to do about it. */
export function statusOfWebhook(webhook: Webhook): WebhookStatus {
  const { state, reason, failing_since } = webhook;
  const gone = isChat(webhook) ? 'the chat no longer accepts messages' : 'the endpoint answered 410';
  if (state === 'disabled')
    return {
      kind: 'bad',
      words: reason === 'gone' ? `Disabled: ${gone}` : 'Disabled: failed for 5 days',
      whatToDo: 'Fix the endpoint, then enable the webhook. It continues where it stopped.',
    };
  if (state === 'paused')
    return {
      kind: 'idle',
      words: 'Paused',
      whatToDo: 'When you enable the webhook, it continues where it stopped.',
    };
  if (failing_since !== null)
    return {
      kind: 'warn',
      words: 'Failing',
      whatToDo:
        'Check the answers of the endpoint. Earshot retries automatically, and disables the webhook after 5 days.',
    };
  return { kind: 'good', words: 'Active', whatToDo: null };
}

export function statusOfOutcome(outcome: Delivery['outcome']): StatusKind {
  if (outcome === 'delivered') return 'good';
  if (outcome === 'not_sent') return 'idle';
  return outcome === 'failed' ? 'warn' : 'bad';
}
