import { type CallOptions, call } from './call.ts';
import type { Answers, Operations, Requests } from './contract-types.ts';
import { operations } from './operations.ts';
import type { Connection } from './send.ts';

/** Streams and files have other methods: `followMatches`, `followNotices` and `exportMatches`. */
type CallId = Exclude<keyof Operations, 'StreamMatches' | 'StreamNotices' | 'ExportMatches'>;

/** The request is optional if it may be empty. */
type Call<Id extends CallId> =
  Record<string, never> extends Requests[Id]
    ? (request?: Requests[Id], options?: CallOptions) => Promise<Answers[Id]>
    : (request: Requests[Id], options?: CallOptions) => Promise<Answers[Id]>;

/** One method for each operation of the contract: `CreateRule` is `createRule`. */
export type Calls = { readonly [Id in CallId as Uncapitalize<Id>]: Call<Id> };

export function createCalls(connection: Connection, timeoutMs: number | undefined): Calls {
  const { StreamMatches: _, StreamNotices: __, ExportMatches: ___, ...called } = operations;
  const methods = Object.entries(called).map(([id, operation]) => [
    `${id.charAt(0).toLowerCase()}${id.slice(1)}`,
    (request: object = {}, options: CallOptions = {}) =>
      call(connection, operation, request, { timeoutMs, ...options }),
  ]);
  // `Object.entries` loses the type of each row. A test compares the methods with the contract.
  return Object.fromEntries(methods) as Calls;
}
