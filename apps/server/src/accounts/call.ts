import type { Readable } from 'node:stream';
import type { AnswerOf, OperationId, RequestOf, Scope } from '@earshot/contract';
import type { Change } from './change.ts';
import type { PlanAndLimits } from './plans.ts';

/** The authenticated caller. The account comes from the key and never from the request. */
export interface Principal extends PlanAndLimits {
  readonly accountId: string;
  readonly keyId: string;
  readonly scopes: readonly Scope[];
  /** If true, every request is refused. */
  readonly isSuspended?: boolean;
  /** Set for a caller who is signed in to the console with the key. */
  readonly sessionId?: string;
}

/** One call of an operation: the caller is authenticated and authorised, and the request is parsed. */
export interface Call<Id extends OperationId> {
  readonly principal: Principal;
  readonly request: RequestOf<Id>;
  /** For operations that change something: recorded in the transaction of the change. */
  readonly change: Change;
  /**
   * Aborted when the caller has disconnected, its key is no longer valid or the node shuts down. An operation that waits then
   * returns at once.
   */
  readonly signal: AbortSignal;
  /** The `Last-Event-ID` that a client of a stream sends when it reconnects. */
  readonly lastEventId: string | null;
}

export type Handler<Id extends OperationId> = (call: Call<Id>) => Promise<AnswerOf<Id>>;

/** An answer without an end. The sender takes more once the client has received what was sent. */
export interface EventStream extends Disposable {
  /**
   * Returns the next events without waiting for new ones. A promise if they must be read first; empty if the signal was aborted.
   * Many clients may get the same object, so that it is encoded once.
   */
  take(signal: AbortSignal): EventBatch | Promise<EventBatch>;
  /** Registers a callback for when there may be more to take. */
  onMore(wake: () => void): void;
}

export interface EventBatch {
  readonly events: readonly ServerEvent[];
  /** All events, once they are encoded. */
  bytes?: Buffer;
}

/** An answer that is not JSON. It is read while it is sent, as fast as the client receives it. */
export interface FileAnswer {
  readonly file: Readable;
  /** Its content type, and what the client needs to continue. */
  readonly headers: Readonly<Record<string, string>>;
}

/** One server-sent event. */
export interface ServerEvent {
  /** The cursor from which a client that reconnects continues. */
  readonly id: string;
  readonly event: string;
  readonly data: string;
}
