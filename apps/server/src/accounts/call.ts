import type { AnswerOf, OperationId, RequestOf, Scope } from '@earshot/contract';
import type { Change } from './change.ts';
import type { Allowed } from './plans.ts';

/** Who is asking: the account comes from the key and never from the request. */
export interface Principal extends Allowed {
  readonly accountId: string;
  readonly keyId: string;
  readonly scopes: readonly Scope[];
  /** Then every request is refused. */
  readonly isSuspended?: boolean;
  /** Of somebody who is signed in to the console with the key. */
  readonly sessionId?: string;
}

/** One call of an operation: the caller is authenticated and authorised, and the request is parsed. */
export interface Call<Id extends OperationId> {
  readonly principal: Principal;
  readonly request: RequestOf<Id>;
  /** For operations that change something: recorded in the transaction of the change. */
  readonly change: Change;
  /**
   * Aborted when the caller has disconnected, its key is no longer valid or the node shuts down: an operation that waits
   * then returns at once.
   */
  readonly signal: AbortSignal;
  /** The `Last-Event-ID` that a client of a stream sends when it reconnects. */
  readonly lastEventId: string | null;
}

export type Handler<Id extends OperationId> = (call: Call<Id>) => Promise<AnswerOf<Id>>;

/** An answer without an end: the sender takes more when the client has taken what came before. */
export interface EventStream extends Disposable {
  /**
   * What comes next, without waiting for it; a promise where it must be read first, also empty when the signal was aborted. The
   * same object may go to many clients, so that it is encoded once.
   */
  take(signal: AbortSignal): EventBatch | Promise<EventBatch>;
  /** `look` is called whenever there may be something to take. */
  onMore(look: () => void): void;
}

export interface EventBatch {
  readonly events: readonly ServerEvent[];
  /** Of all of them, once they are encoded. */
  bytes?: Buffer;
}

/** One server-sent event. */
export interface ServerEvent {
  /** The cursor from which a client that reconnects continues. */
  readonly id: string;
  readonly event: string;
  readonly data: string;
}
