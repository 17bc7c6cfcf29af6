import type { Scope } from '@earshot/contract';
import type { KeyStore } from '../../accounts/authenticate.ts';
import type { NewKey, StoredKey } from '../../accounts/create-key.ts';
import type { PlanName } from '../../accounts/plans.ts';
import type { Database } from './database.ts';

export interface AccountStore extends KeyStore {
  createAccount(account: { id: string; name: string; plan: PlanName }): Promise<void>;
  /** False when there is no such account. */
  createKey(key: NewKey, stored: StoredKey): Promise<boolean>;
  /** False when there is no such key, or it was revoked before. */
  revokeKey(keyId: string): Promise<boolean>;
}

export function createAccountStore(database: Database): AccountStore {
  return {
    async principalOf(keyHash) {
      const row = await database.one<{ id: string; account_id: string; plan: PlanName; scopes: Scope[] }>(
        `select api_keys.id, api_keys.account_id, accounts.plan, api_keys.scopes
         from api_keys join accounts on accounts.id = api_keys.account_id
         where hash = $1 and revoked_at is null and (expires_at is null or expires_at > now())`,
        [keyHash],
      );
      return row && { accountId: row.account_id, keyId: row.id, plan: row.plan, scopes: row.scopes };
    },
    async touch(keyId) {
      await database.run('update api_keys set last_used_at = now() where id = $1', [keyId]);
    },
    async createAccount({ id, name, plan }) {
      await database.run('insert into accounts (id, name, plan) values ($1, $2, $3)', [id, name, plan]);
    },
    async createKey({ hash, display }, { id, accountId, scopes, expiresAt }) {
      const created = await database.run(
        `insert into api_keys (id, account_id, hash, display, scopes, expires_at)
         select $1, accounts.id, $3, $4, $5, $6 from accounts where accounts.id = $2`,
        [id, accountId, hash, display, scopes, expiresAt],
      );
      return created === 1;
    },
    async revokeKey(keyId) {
      return (
        (await database.run('update api_keys set revoked_at = now() where id = $1 and revoked_at is null', [
          keyId,
        ])) === 1
      );
    },
  };
}
