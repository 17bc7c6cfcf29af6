import type { AnswerOf, OperationId, RequestOf } from '@earshot/contract';
import type { Change } from './change.ts';
import type { Principal } from './principal.ts';

/** One call of an operation: who calls is known, what they ask is parsed, and they may ask it. */
export interface Call<Id extends OperationId> {
  readonly principal: Principal;
  readonly request: RequestOf<Id>;
  /** For operations that change something: recorded in the transaction of the change. */
  readonly change: Change;
  /** Aborted when the caller has gone or the node shuts down; whoever waits then answers with what there is. */
  readonly signal: AbortSignal;
  /** The `Last-Event-ID` that a client of a stream sends when it reconnects. */
  readonly lastEventId: string | null;
}

export type Handler<Id extends OperationId> = (call: Call<Id>) => Promise<AnswerOf<Id>>;
