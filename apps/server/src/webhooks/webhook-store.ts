import type { AnswerOf, Delivery, Platform, Webhook } from '@earshot/contract';
import type { Change } from '../accounts/change.ts';

export interface NewWebhook {
  readonly id: string;
  readonly name: string;
  readonly url: string;
  readonly ruleId: string | null;
  readonly platform: Platform | null;
  readonly sealedSecret: Buffer;
}

/** What an owner changes; absent fields stay. */
export interface WebhookChanges {
  readonly name?: string;
  readonly url?: string;
  readonly ruleId?: string | null;
  readonly platform?: Platform | null;
  readonly state?: 'active' | 'paused';
}

export type CreateWebhookOutcome =
  | { readonly kind: 'created'; readonly answer: AnswerOf<'CreateWebhook'> }
  | { readonly kind: 'limit'; readonly used: number }
  | { readonly kind: 'name_taken' };

export type UpdateWebhookOutcome =
  | { readonly kind: 'updated'; readonly webhook: Webhook }
  | { readonly kind: 'not_found' }
  | { readonly kind: 'name_taken' };

/** What is needed to send to a webhook, or to read what it reads. */
export interface WebhookTarget {
  readonly webhookId: string;
  readonly url: string;
  readonly ruleId: string | null;
  readonly platform: Platform | null;
  readonly secrets: readonly Buffer[];
}

/** Every call carries the account: another one's webhook is not there (I7). */
export interface WebhookStore {
  /** Starts at the end of the match log. */
  create(change: Change, webhook: NewWebhook, webhooksMax: number): Promise<CreateWebhookOutcome>;
  list(accountId: string): Promise<Webhook[]>;
  find(accountId: string, webhookId: string): Promise<WebhookTarget | null>;
  update(change: Change, webhookId: string, changes: WebhookChanges): Promise<UpdateWebhookOutcome>;
  remove(change: Change, webhookId: string): Promise<AnswerOf<'DeleteWebhook'> | null>;
  /** The present secret stays valid beside the new one for 24 hours. */
  rotate(
    change: Change,
    webhookId: string,
    sealedSecret: Buffer,
  ): Promise<AnswerOf<'RotateWebhookSecret'> | null>;
  /** Everything behind the position is sent again; never moves forward. */
  setBack(
    change: Change,
    webhookId: string,
    position: number,
    answer: AnswerOf<'ReplayWebhook'>,
  ): Promise<boolean>;
}

export interface DeliveryReader {
  /** Newest first, below the given id. */
  page(
    webhookId: string,
    page: { outcome: Delivery['outcome'] | null; before: string | null; limit: number },
  ): Promise<Delivery[]>;
}
