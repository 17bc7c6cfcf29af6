import type { Readable } from 'node:stream';
import type { AnswerOf, OperationId, RequestOf } from '@earshot/contract';
import type { Principal } from '../accounts/principal.ts';

/** One operation: who asks is known, what they ask is parsed, and they may ask it. */
export interface Route<Id extends OperationId> {
  readonly id: Id;
  /** A Readable is JSON text that is longer than should stand in memory. */
  handle(principal: Principal, request: RequestOf<Id>, signal: AbortSignal): Promise<AnswerOf<Id> | Readable>;
}

export type AnyRoute = { [Id in OperationId]: Route<Id> }[OperationId];
