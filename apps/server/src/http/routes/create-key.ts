import type { createCreateKey } from '../../accounts/manage-keys.ts';
import type { Route } from '../route.ts';

export function createKeyRoute(createKey: ReturnType<typeof createCreateKey>): Route<'CreateKey'> {
  return {
    id: 'CreateKey',
    handle: (principal, request, { change }) => createKey(principal, request, change),
  };
}
