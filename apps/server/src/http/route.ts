import type { Readable } from 'node:stream';
import type { AnswerOf, OperationId, RequestOf } from '@earshot/contract';
import type { Principal } from '../accounts/principal.ts';
import type { Change } from '../changes/change.ts';
import type { EventStream } from '../runtime/event-stream.ts';

/** One operation: who asks is known, what they ask is parsed, and they may ask it. */
export interface Route<Id extends OperationId> {
  readonly id: Id;
  /** A Readable is JSON text that is longer than should stand in memory; an EventStream goes on. */
  handle(
    principal: Principal,
    request: RequestOf<Id>,
    call: Call,
  ): Promise<AnswerOf<Id> | Readable | EventStream>;
}

export interface Call {
  /** Ends all waiting: the caller has gone, or the node is about to, and then the answer is what there is. */
  readonly signal: AbortSignal;
  /** For operations that change something: to be recorded with the change. */
  readonly change: Change;
  /** For an answer that goes on: the `Last-Event-ID` that a client sends when it comes back. */
  readonly lastEventId: string | null;
}

export type AnyRoute = { [Id in OperationId]: Route<Id> }[OperationId];
