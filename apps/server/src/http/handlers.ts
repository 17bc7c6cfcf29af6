import type { Readable } from 'node:stream';
import type { AnswerOf, OperationId } from '@earshot/contract';
import type { Call, EventStream } from '../accounts/call.ts';

/**
 * Every operation of the contract with the function that carries it out; one that is missing does not compile.
 * A Readable is JSON text that is too long to be held in memory; an EventStream is sent as server-sent events.
 */
export type Handlers = {
  readonly [Id in OperationId]: (call: Call<Id>) => Promise<AnswerOf<Id> | Readable | EventStream>;
};
