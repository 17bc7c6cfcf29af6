import { Failure } from '../runtime/failure.ts';
import { newId } from '../runtime/ids.ts';
import type { Handler } from './call.ts';
import { newKey } from './create-key.ts';
import type { AccountKeys } from './key-store.ts';
import type { Plans } from './plans.ts';

export interface ManageKeysOptions {
  readonly store: AccountKeys;
  readonly plans: Plans;
  readonly contact: string;
}

/** A key never gives more than it has: neither scopes nor another account. */
export function createKey({ store, plans, contact }: ManageKeysOptions): Handler<'CreateKey'> {
  return async ({ principal, request, change }) => {
    const scopes = request.scopes ?? principal.scopes;
    const lacking = scopes.find((scope) => !principal.scopes.includes(scope));
    if (lacking !== undefined) {
      throw new Failure(
        'permission_denied',
        `The key lacks the scope "${lacking}" and cannot give it to another: use a key that has it.`,
        { details: { required_scope: lacking } },
      );
    }
    const expiresAt = readExpiry(request.expires_at);
    const { keysMax } = plans[principal.plan];
    const key = newKey();
    const outcome = await store.createKey(change, key, { id: newId('key'), scopes, expiresAt, keysMax });
    switch (outcome.kind) {
      case 'created':
        return { ...outcome.answer, key: key.key };
      case 'keys_limit':
        throw new Failure(
          'resource_exhausted',
          `The account has ${outcome.used} of ${keysMax} keys: revoke one, or ask ${contact} for more.`,
          { details: { limit: keysMax, used: outcome.used, contact } },
        );
      case 'no_account':
        throw new Error('a key without an account was accepted');
    }
  };
}

function readExpiry(text: string | undefined): Date | null {
  if (text === undefined) return null;
  const date = new Date(text);
  if (date.getTime() > Date.now()) return date;
  const message = 'Must be in the future: the key would never work.';
  throw new Failure('invalid_argument', `expires_at: ${message}`, {
    details: { violations: [{ field: 'expires_at', code: 'invalid_value', message }] },
  });
}

export function revokeKey(store: Pick<AccountKeys, 'revokeKey'>): Handler<'RevokeKey'> {
  return async ({ request, change }) => {
    const answer = await store.revokeKey(change, request.key_id);
    // The same, to the byte, for an unknown key, a revoked one and another account's (I7).
    if (!answer) {
      throw new Failure('not_found', 'There is no such key: list your keys to see the ids that exist.');
    }
    return answer;
  };
}

export function listKeys(store: Pick<AccountKeys, 'listKeys'>): Handler<'ListKeys'> {
  return async ({ principal }) => ({ keys: await store.listKeys(principal.accountId) });
}
