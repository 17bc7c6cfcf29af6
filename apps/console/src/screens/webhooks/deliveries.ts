import type { Answers } from '@earshot/sdk';

export type Delivery = Answers['ListDeliveries']['deliveries'][number];
export type Webhook = Answers['ListWebhooks']['webhooks'][number];

/** A message with its listed attempts, or a parked match. */
export interface Message {
  readonly id: string;
  /** The latest listed attempt. */
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

/** Explains the filter of an outcome. */
export const outcomeMeaning: Readonly<Record<Delivery['outcome'], string>> = {
  delivered: 'The endpoint answered 2xx.',
  failed: 'The endpoint did not answer, or its answer allows a retry. Earshot retries automatically.',
  refused: 'The endpoint answered 4xx.',
  gone: 'The endpoint no longer exists, so the webhook was disabled.',
  not_sent: 'Earshot could not send the message. This does not count as a failure of the endpoint.',
  parked: 'The endpoint refuses this match and accepts others, so Earshot skipped it.',
};

type Answered = Pick<Delivery, 'outcome' | 'status'>;

/** Explains what happened in one attempt. A test message is sent once and has no effect on the webhook. */
export function attemptMeaning({ outcome, status }: Answered, { isTest = false } = {}): string {
  const answer = status === null ? 'The endpoint did not answer.' : `The endpoint answered ${status}.`;
  switch (outcome) {
    case 'failed':
      return isTest ? answer : `${answer} Earshot retries automatically.`;
    case 'gone':
      return isTest
        ? `${answer} It no longer exists.`
        : `${answer} It no longer exists, so the webhook was disabled.`;
    case 'delivered':
    case 'refused':
      return answer;
    case 'not_sent':
    case 'parked':
      return outcomeMeaning[outcome];
  }
}

/**
 * Such as `3` or `3 to 29`: the number of an attempt, or of the first and last with the same answer. Messages that were accepted at the
 * first attempt are counted.
 */
export function attemptNumbers({
  attempt,
  times,
  outcome,
}: Pick<Delivery, 'attempt' | 'times' | 'outcome'>): string {
  if (attempt === null) return '–';
  if (outcome === 'delivered' && times > 1) return `${times.toLocaleString()} messages`;
  return times === 1 ? String(attempt) : `${attempt} to ${attempt + times - 1}`;
}
