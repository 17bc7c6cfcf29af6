import type { createRevokeKey } from '../../accounts/manage-keys.ts';
import type { Route } from '../route.ts';

export function revokeKeyRoute(revokeKey: ReturnType<typeof createRevokeKey>): Route<'RevokeKey'> {
  return { id: 'RevokeKey', handle: (_principal, request, { change }) => revokeKey(request, change) };
}
