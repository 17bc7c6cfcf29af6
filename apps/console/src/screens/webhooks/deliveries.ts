import type { Answers } from '@earshot/sdk';

export type Delivery = Answers['ListDeliveries']['deliveries'][number];
export type Webhook = Answers['ListWebhooks']['webhooks'][number];

/** A message with all attempts at it that are listed, or one match that was parked. */
export interface Message {
  readonly id: string;
  /** The latest attempt. */
  readonly latest: Delivery;
  /** Newest first. */
  readonly attempts: readonly Delivery[];
}

/** Newest first, as the deliveries are. */
export function messagesOf(deliveries: readonly Delivery[]): Message[] {
  const groups = Map.groupBy(deliveries, ({ id, message_id }) => message_id ?? id);
  return [...groups].flatMap(([id, attempts]) => {
    const [latest] = attempts;
    return latest === undefined ? [] : [{ id, latest, attempts }];
  });
}

export const outcomeWords: Readonly<Record<Delivery['outcome'], string>> = {
  delivered: 'Delivered',
  failed: 'Failed',
  refused: 'Refused',
  gone: 'Gone',
  not_sent: 'Not sent',
  parked: 'Parked',
};

export const outcomeMeaning: Readonly<Record<Delivery['outcome'], string>> = {
  delivered: 'The endpoint answered 2xx.',
  failed: 'No answer, or one that says to try again. It is retried automatically.',
  refused: 'The endpoint answered 4xx.',
  gone: 'The endpoint is gone, and the webhook is disabled.',
  not_sent: 'A failure of our own, which does not count as one of the endpoint.',
  parked: 'The endpoint refuses this match and accepts others, so it was left out.',
};
