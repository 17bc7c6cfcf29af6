import { isChatFormat, type Platform, type RelevanceFilter, type WebhookFormat } from '@earshot/contract';
import type { StoredMatch } from '../readers/match-reader.sql.ts';
import type { EndpointState, NoticeState } from './endpoint-state.ts';
import { batchBytesMax } from './message.ts';

/** A webhook to which only this node may send, for a minute. */
export interface LeasedWebhook {
  readonly lease: string;
  readonly webhookId: string;
  readonly accountId: string;
  readonly epoch: number;
  readonly name: string;
  readonly url: string;
  readonly format: WebhookFormat;
  /** When the next message was due: the later of its next attempt and the end of the previous window. */
  readonly dueAt: Date;
  /** The time of the database, extrapolated from the lease. */
  readonly nowMs: () => number;
  readonly ruleIds: readonly string[] | null;
  readonly platform: Platform | null;
  readonly relevance: RelevanceFilter;
  /** The most matches in one message of a program. */
  readonly maxMatches: number;
  /** Where its stories begin; null if it gets every match. */
  readonly storiesFrom: number | null;
  /** Sealed; all that are valid now, newest first. */
  readonly secrets: readonly Buffer[];
  readonly state: EndpointState;
  /** The value at the time of the lease. */
  readonly nextAttemptAt: Date;
  readonly batch: WebhookBatch | null;
  /** The last position of the match log when the lease was taken: a later read sees everything up to it. */
  readonly logEnd: number;
  /** Null if no notice is due. */
  readonly notices: DueNotices | null;
}

export interface DueNotices {
  readonly state: NoticeState;
  /** The last position of the account's notices when the lease was taken. */
  readonly logEnd: number;
}

export interface WebhookBatch {
  readonly messageId: string;
  readonly firstPosition: number;
  readonly lastPosition: number;
  /** Including removals. */
  readonly matchCount: number;
  /** Attempts before the current one. */
  readonly attempts: number;
  readonly body: string;
}

/**
 * Whether the next message may follow at once, because more matches may have waited than the message can have. A chat shows some of them
 * and counts the others.
 */
export function isFull(
  { format, state, maxMatches }: Pick<LeasedWebhook, 'format' | 'state' | 'maxMatches'>,
  { matchCount, body }: Pick<WebhookBatch, 'matchCount' | 'body'>,
): boolean {
  if (isChatFormat(format)) return false;
  return matchCount >= Math.min(state.batchMax, maxMatches) || body.length > batchBytesMax / 2;
}

/** A match in a message, without its content. */
export type DeliveredMatch = Pick<StoredMatch, 'position' | 'ruleId' | 'platform' | 'eventKey'>;
