import type { Scope } from '@earshot/contract';
import type { Database } from '../engines/database.ts';
import { joinCalls } from '../runtime/join-calls.ts';
import type { KeyStore } from './authenticate.ts';
import type { WatchedKeys } from './key-watch.ts';
import type { PlanName } from './plans.ts';
import type { Principal } from './principal.ts';

export interface AccountStore extends KeyStore, WatchedKeys {
  createAccount(account: { id: string; name: string; plan: PlanName }): Promise<void>;
  /** Whose key it is. */
  accountOfKey(keyId: string): Promise<string | null>;
}

interface PrincipalRow {
  hash: Buffer;
  id: string;
  account_id: string;
  plan: PlanName;
  scopes: Scope[];
}

export function createAccountStore(database: Database): AccountStore {
  // However many keys are looked up at once, they take one connection.
  const principalOf = joinCalls(async (hashes: readonly Buffer[]) => {
    const rows = await database.prepared<PrincipalRow>(
      `select hash, api_keys.id, api_keys.account_id, accounts.plan, api_keys.scopes
       from api_keys join accounts on accounts.id = api_keys.account_id
       where hash = any($1) and revoked_at is null and (expires_at is null or expires_at > now())`,
      [hashes],
    );
    return hashes.map((hash) => toPrincipal(rows.find((row) => row.hash.equals(hash))));
  });
  return {
    principalOf,
    async touch(keyId) {
      await database.run('update api_keys set last_used_at = now() where id = $1', [keyId]);
    },
    async ended(keyIds) {
      const rows = await database.many<{ id: string }>(
        `select asked.id from unnest($1::text[]) as asked (id) where not exists (
           select 1 from api_keys where api_keys.id = asked.id
             and revoked_at is null and (expires_at is null or expires_at > now())
         )`,
        [keyIds],
      );
      return rows.map((row) => row.id);
    },
    async createAccount({ id, name, plan }) {
      await database.run('insert into accounts (id, name, plan) values ($1, $2, $3)', [id, name, plan]);
    },
    async accountOfKey(keyId) {
      const row = await database.one<{ account_id: string }>(
        'select account_id from api_keys where id = $1',
        [keyId],
      );
      return row?.account_id ?? null;
    },
  };
}

function toPrincipal(row: PrincipalRow | undefined): Principal | null {
  return row ? { accountId: row.account_id, keyId: row.id, plan: row.plan, scopes: row.scopes } : null;
}
