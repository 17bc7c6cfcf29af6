import { createHmac, createSecretKey, hash, type KeyObject, timingSafeEqual } from 'node:crypto';
import { Failure } from './failure.ts';

export interface CursorScope {
  readonly accountId: string;
  /** Everything in the request that decides what the list contains and in which order. */
  readonly filter: readonly (string | null)[];
}

/** What a list by id, newest first, reads for one page: items below the id `before`. */
export interface PageQuery {
  readonly before: string | null;
  readonly limit: number;
}

export type Cursors = ReturnType<typeof createCursors>;

const signatureLength = 16;
/** So that no cursor begins with a hyphen, which a command line would parse as an option. */
const prefix = 'c';

/**
 * A cursor is a position in a list that the caller sends back. It is opaque, signed, and bound to the account and the filter: with another
 * filter it would silently skip items. The first secret signs, all are accepted.
 */
export function createCursors(...secrets: readonly Buffer[]) {
  let keys = keysOf(secrets);
  const sign = (key: KeyObject | undefined, scope: CursorScope, position: string) => {
    if (key === undefined) throw new Error('there is no secret for cursors');
    return createHmac('sha256', key)
      .update(`1\n${boundTo(scope)}\n${position}`)
      .digest()
      .subarray(0, signatureLength);
  };

  const seal = (scope: CursorScope, position: string): string =>
    prefix + Buffer.concat([sign(keys[0], scope, position), Buffer.from(position)]).toString('base64url');

  /** Throws `invalid_argument` for anything that `seal` did not make for this scope. */
  const open = (scope: CursorScope, cursor: string): string => {
    const bytes = Buffer.from(cursor.slice(prefix.length), 'base64url');
    const signature = bytes.subarray(0, signatureLength);
    const position = bytes.subarray(signatureLength).toString();
    const valid =
      signature.length === signatureLength &&
      cursor === prefix + bytes.toString('base64url') &&
      keys.some((key) => timingSafeEqual(signature, sign(key, scope, position)));
    if (!valid) throw foreignCursor();
    return position;
  };

  return {
    seal,
    open,
    /** Replaces the secrets after a rotation. */
    use(next: readonly Buffer[]): void {
      keys = keysOf(next);
    },
    /** A page of a list that is ordered by a unique text. The cursor is null if the page is not full. */
    async page<Item>(
      scope: CursorScope,
      { cursor, limit }: { readonly cursor?: string | undefined; readonly limit: number },
      read: (query: PageQuery) => Promise<Item[]>,
      orderOf: (item: Item) => string,
    ): Promise<{ items: Item[]; next_cursor: string | null }> {
      const items = await read({ before: cursor === undefined ? null : open(scope, cursor), limit });
      const last = items.length === limit ? items.at(-1) : undefined;
      return { items, next_cursor: last === undefined ? null : seal(scope, orderOf(last)) };
    },
  };
}

const bounds = new WeakMap<CursorScope, string>();

/** Computed once per scope: a stream signs a cursor with every event. */
function boundTo(scope: CursorScope): string {
  const known = bounds.get(scope);
  if (known !== undefined) return known;
  const bound = hash('sha256', JSON.stringify([scope.accountId, scope.filter]), 'base64url');
  bounds.set(scope, bound);
  return bound;
}

/** Created once: signing with the bare bytes takes six times as long. */
function keysOf(secrets: readonly Buffer[]): KeyObject[] {
  return secrets.map((secret) => createSecretKey(secret));
}

function foreignCursor(): Failure {
  const message =
    'Not a cursor of this list. Use "next_cursor" from an answer to the same request, or omit the cursor.';
  return new Failure('invalid_argument', message, {
    details: { violations: [{ field: 'cursor', code: 'invalid_value', message }] },
  });
}
