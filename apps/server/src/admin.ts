import { type Scope, scopes } from '@earshot/contract';
import { createKey } from './accounts/create-key.ts';
import type { PlanName } from './accounts/plans.ts';
import { createAccountStore } from './adapters/postgres/account-store.ts';
import { openDatabase } from './adapters/postgres/database.ts';
import { migrate } from './adapters/postgres/migrate.ts';
import { newId } from './runtime/ids.ts';

/** What an operator does directly on the database, before there is any key to do it over HTTP. */
export interface Admin extends AsyncDisposable {
  createAccount(account: { name: string; plan?: PlanName }): Promise<{ accountId: string }>;
  /** The key is in the answer and nowhere else. Null when there is no such account. */
  createKey(key: {
    accountId: string;
    scopes?: readonly Scope[];
    expiresAt?: Date;
  }): Promise<{ keyId: string; key: string } | null>;
  revokeKey(keyId: string): Promise<boolean>;
}

export async function openAdmin(databaseUrl: string): Promise<Admin> {
  await migrate(databaseUrl);
  const database = openDatabase({ url: databaseUrl, connectionsMax: 1, onIdleError: () => undefined });
  const store = createAccountStore(database);
  return {
    async createAccount({ name, plan = 'paid' }) {
      const accountId = newId('acc');
      await store.createAccount({ id: accountId, name, plan });
      return { accountId };
    },
    async createKey({ accountId, scopes: granted = scopes, expiresAt }) {
      const key = createKey();
      const keyId = newId('key');
      const created = await store.createKey(key, {
        id: keyId,
        accountId,
        scopes: granted,
        expiresAt: expiresAt ?? null,
      });
      return created ? { keyId, key: key.key } : null;
    },
    revokeKey: (keyId) => store.revokeKey(keyId),
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
}
