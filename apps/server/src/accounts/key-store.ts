import type { AnswerOf, Key } from '@earshot/contract';
import type { Change } from './change.ts';
import type { NewKey, StoredKey } from './create-key.ts';

/** The keys of an account. The account is that of the change; a foreign key is like one that does not exist. */
export interface AccountKeys {
  createKey(change: Change, key: NewKey, stored: StoredKey): Promise<CreateKeyOutcome>;
  listKeys(accountId: string): Promise<Key[]>;
  /** Null when there is no such key, or it was revoked before. */
  revokeKey(change: Change, keyId: string): Promise<AnswerOf<'RevokeKey'> | null>;
}

export type CreateKeyOutcome =
  | { readonly kind: 'created'; readonly answer: AnswerOf<'CreateKey'> }
  | { readonly kind: 'no_account' }
  | { readonly kind: 'keys_limit'; readonly used: number };
