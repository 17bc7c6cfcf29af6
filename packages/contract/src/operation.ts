import type { z } from 'zod';
import { commonErrors, type ErrorCode } from './errors.ts';
import type { Scope } from './scopes.ts';

export interface Operation {
  readonly id: string;
  /** The request of a GET is its query string, that of a POST its JSON body. */
  readonly method: 'GET' | 'POST';
  readonly path: `/${string}`;
  /** The scope that the key needs; null when any valid key will do. */
  readonly scope: Scope | null;
  /** It changes something: it takes an `Idempotency-Key`, counts as a change, and is audited. */
  readonly changes: boolean;
  /** The answer is a stream of server-sent events, each like `answer`. */
  readonly stream?: boolean;
  readonly summary: string;
  readonly description: string;
  readonly request: z.ZodObject;
  readonly answer: z.ZodObject;
  readonly errors: readonly ErrorCode[];
  /** For the OpenAPI document and the reference page. */
  readonly example: { readonly request: object; readonly answer: object };
}

/** An operation as it is written: POST to `/api.<its name>` unless it says otherwise, and only the errors of its own. */
type OperationRow = Omit<Operation, 'id' | 'method' | 'path' | 'errors'> &
  Partial<Pick<Operation, 'method' | 'path' | 'errors'>>;

type Completed<Id extends string, Row> = Omit<Row, 'errors'> & {
  readonly id: Id;
  readonly method: Row extends { readonly method: infer Method } ? Method : 'POST';
  readonly path: Row extends { readonly path: infer Path } ? Path : `/api.${Id}`;
  readonly errors: readonly ErrorCode[];
};

/** Completes the rows of one noun. */
export function defineOperations<const Rows extends Readonly<Record<string, OperationRow>>>(
  rows: Rows,
): { readonly [Id in keyof Rows & string]: Completed<Id, Rows[Id]> } {
  const completed = Object.entries(rows).map(([id, row]) => {
    const ofScope = row.scope === null ? [] : ['permission_denied'];
    const errors = [...commonErrors, ...ofScope, ...(row.errors ?? [])];
    return [id, { id, method: 'POST', path: `/api.${id}`, ...row, errors }];
  });
  // `Object.fromEntries` forgets which row has which type.
  return Object.fromEntries(completed);
}
