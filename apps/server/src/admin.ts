import { type Scope, scopes } from '@earshot/contract';
import type { Change } from './accounts/change.ts';
import { createKeyStore, newKey } from './accounts/keys.ts';
import type { PlanName } from './accounts/plans.ts';
import { openDatabase } from './engines/database.ts';
import { migrate } from './engines/migrate.ts';
import { createDeadLetters, type DeadLetterRow } from './matching/dead-letters.ts';
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
  /** Events that could not be stored, the newest first. */
  listDeadLetters(): Promise<DeadLetterRow[]>;
  /** All of them without an id. A node with the role `match` tries each once more; returns how many. */
  retryDeadLetters(id: number | null): Promise<number>;
}

export async function openAdmin(databaseUrl: string): Promise<Admin> {
  await migrate(databaseUrl);
  const database = openDatabase({ url: databaseUrl, connectionsMax: 1, onIdleError: () => undefined });
  const keys = createKeyStore(database);
  const letters = createDeadLetters(database);
  return {
    async createAccount({ name, plan = 'paid' }) {
      const accountId = newId('acc');
      await database.run('insert into accounts (id, name, plan) values ($1, $2, $3)', [
        accountId,
        name,
        plan,
      ]);
      return { accountId };
    },
    async createKey({ accountId, scopes: granted = scopes, expiresAt }) {
      const key = newKey();
      const keyId = newId('key');
      const outcome = await keys.createKey(byOperator(accountId, 'CreateKey'), key, {
        id: keyId,
        askedBy: null,
        scopes: granted,
        expiresAt: expiresAt ?? null,
        keysMax: null,
      });
      return outcome.kind === 'created' ? { keyId, key: key.key } : null;
    },
    async revokeKey(keyId) {
      const row = await database.one<{ account_id: string }>(
        'select account_id from api_keys where id = $1',
        [keyId],
      );
      if (!row) return false;
      return (await keys.revokeKey(byOperator(row.account_id, 'RevokeKey'), keyId)) !== null;
    },
    listDeadLetters: () => letters.list(),
    retryDeadLetters: (id) => letters.requestRetry(id),
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
}

function byOperator(accountId: string, operation: string): Change {
  return { accountId, actor: 'operator', operation, requestId: null, claim: null };
}
