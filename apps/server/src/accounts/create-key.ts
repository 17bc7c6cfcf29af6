import { createHash, randomInt } from 'node:crypto';
import { formatKey, type Scope } from '@earshot/contract';

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

export interface NewKey {
  /** Shown once; only its hash is kept. */
  readonly key: string;
  readonly hash: Buffer;
  /** Enough to recognise it in a list. */
  readonly display: string;
}

export function newKey(): NewKey {
  const key = formatKey(Array.from({ length: 32 }, () => base62.charAt(randomInt(62))).join(''));
  return {
    key,
    hash: createHash('sha256').update(key).digest(),
    display: `${key.slice(0, 8)}…${key.slice(-4)}`,
  };
}

export interface StoredKey {
  readonly id: string;
  readonly scopes: readonly Scope[];
  readonly expiresAt: Date | null;
  /** Null: an operator is not bound by the plan. */
  readonly keysMax: number | null;
}
