import type { Platform, WebhookFormat } from '@earshot/contract';
import type { StoredMatch } from '../readers/match-reader.sql.ts';
import type { EndpointState, NoticeState } from './endpoint-state.ts';

/** A webhook to which this node alone may send, for a minute. */
export interface LeasedWebhook {
  readonly lease: string;
  readonly webhookId: string;
  readonly accountId: string;
  readonly epoch: number;
  readonly name: string;
  readonly url: string;
  readonly format: WebhookFormat;
  /** When the next message was due: its attempt, and the end of the window of the one before. */
  readonly dueAt: Date;
  /** The time of the database, counted on from the lease. */
  readonly nowMs: () => number;
  readonly ruleId: string | null;
  readonly platform: Platform | null;
  /** Sealed; all that are valid now, the newest first. */
  readonly secrets: readonly Buffer[];
  readonly state: EndpointState;
  /** As it was leased. */
  readonly nextAttemptAt: Date;
  readonly batch: Batch | null;
  /** The last position of the match log when the lease was taken: a later read sees everything up to it. */
  readonly logEnd: number;
  /** Null when no notice is due. */
  readonly notices: DueNotices | null;
}

export interface DueNotices {
  readonly state: NoticeState;
  /** The last position of the account's notices when the lease was taken. */
  readonly logEnd: number;
}

export interface Batch {
  readonly messageId: string;
  readonly firstPosition: number;
  readonly lastPosition: number;
  /** With the removals. */
  readonly matchCount: number;
  /** Before the current one. */
  readonly attempts: number;
  readonly body: string;
}

/** A match in a message, without its content. */
export type DeliveredMatch = Pick<StoredMatch, 'position' | 'ruleId' | 'platform' | 'eventKey'>;
