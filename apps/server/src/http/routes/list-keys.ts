import type { AccountKeys } from '../../accounts/key-store.ts';
import type { Route } from '../route.ts';

export function listKeysRoute(store: Pick<AccountKeys, 'listKeys'>): Route<'ListKeys'> {
  return { id: 'ListKeys', handle: async ({ accountId }) => ({ keys: await store.listKeys(accountId) }) };
}
