import type { Answers } from '@earshot/sdk';

export type Delivery = Answers['ListDeliveries']['deliveries'][number];
export type Webhook = Answers['ListWebhooks']['webhooks'][number];

/** A message with its listed attempts, or a parked match. */
export interface Message {
  readonly id: string;
  /** The latest attempt. */
  readonly latest: Delivery;
  /** Newest first. */
  readonly attempts: readonly Delivery[];
}

/** Groups deliveries by message and keeps their order. */
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
  failed: 'The endpoint did not answer, or its answer allows a retry. Earshot retries automatically.',
  refused: 'The endpoint answered 4xx.',
  gone: 'The endpoint no longer exists, so the webhook was disabled.',
  not_sent: 'Earshot could not send the message. This does not count as a failure of the endpoint.',
  parked: 'The endpoint refuses this match and accepts others, so Earshot skipped it.',
};
