import type { StandingKind } from '../../parts/standing-kind.ts';
import type { Delivery, Webhook } from './deliveries.ts';

export interface WebhookStanding {
  readonly kind: StandingKind;
  readonly words: string;
  readonly whatToDo: string | null;
}

/** How a webhook is doing, and what has to be done about it. */
export function standingOfWebhook(webhook: Webhook): WebhookStanding {
  const { state, reason, failing_since, window_seconds } = webhook;
  const gone = window_seconds === null ? 'the endpoint answered 410' : 'the chat takes no more messages';
  if (state === 'disabled')
    return {
      kind: 'bad',
      words: reason === 'gone' ? `Disabled: ${gone}` : 'Disabled: five days of failures',
      whatToDo: 'Fix the endpoint, then enable the webhook: it continues where it stopped.',
    };
  if (state === 'paused')
    return { kind: 'idle', words: 'Paused', whatToDo: 'Enable it, and it continues where it stopped.' };
  if (failing_since !== null)
    return {
      kind: 'warn',
      words: 'Failing',
      whatToDo: 'Check what the endpoint answers. It is retried automatically, and disabled after five days.',
    };
  return { kind: 'good', words: 'Active', whatToDo: null };
}

export function standingOfOutcome(outcome: Delivery['outcome']): StandingKind {
  if (outcome === 'delivered') return 'good';
  if (outcome === 'not_sent') return 'idle';
  return outcome === 'failed' ? 'warn' : 'bad';
}
