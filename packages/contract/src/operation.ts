import type { z } from 'zod';
import { commonErrors, type ErrorCode } from './errors.ts';
import type { Scope } from './scopes.ts';

export interface Operation {
  readonly id: string;
  /** Groups operations in the reference. */
  readonly tag: string;
  /** The request of a GET is its query string, that of a POST its JSON body. */
  readonly method: 'GET' | 'POST';
  readonly path: `/${string}`;
  /** The scope that the key needs; null when any valid key will do. */
  readonly scope: Scope | null;
  /** The operation changes something: it accepts an `Idempotency-Key`, counts as a change, and is audited. */
  readonly changes: boolean;
  /** The answer is a stream of server-sent events; `answer` describes one event. */
  readonly stream?: boolean;
  /** The answer is a file of one of these content types; `answer` describes one row. */
  readonly file?: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly request: z.ZodObject;
  readonly answer: z.ZodObject;
  readonly errors: readonly ErrorCode[];
  /** For the OpenAPI document and the reference page. */
  readonly example: { readonly request: object; readonly answer: object };
}

/** An operation as it is written: by default POST to `/api.<Name>`, and without the common errors. */
type OperationRow = Omit<Operation, 'id' | 'tag' | 'method' | 'path' | 'errors'> &
  Partial<Pick<Operation, 'method' | 'path' | 'errors'>>;

type Completed<Id extends string, Row> = Omit<Row, 'errors'> & {
  readonly id: Id;
  readonly tag: string;
  readonly method: Row extends { readonly method: infer Method } ? Method : 'POST';
  readonly path: Row extends { readonly path: infer Path } ? Path : `/api.${Id}`;
  readonly errors: readonly ErrorCode[];
};

/** Completes the rows of one group. */
export function defineOperations<const Rows extends Readonly<Record<string, OperationRow>>>(
  tag: string,
  rows: Rows,
): { readonly [Id in keyof Rows & string]: Completed<Id, Rows[Id]> } {
  const completed = Object.entries(rows).map(([id, row]) => {
    const ofScope = row.scope === null ? [] : ['permission_denied'];
    const errors = [...commonErrors, ...ofScope, ...(row.errors ?? [])];
    return [id, { id, tag, method: 'POST', path: `/api.${id}`, ...row, errors }];
  });
  // `Object.fromEntries` forgets which row has which type.
  return Object.fromEntries(completed);
}
