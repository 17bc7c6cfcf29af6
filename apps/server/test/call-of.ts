import type { OperationId, RequestOf } from '@earshot/contract';
import type { Call } from '../src/accounts/call.ts';

/** A call of an operation by a key that may do everything, as the HTTP server would hand it over. */
export function callOf<Id extends OperationId>(
  operation: Id,
  request: RequestOf<Id>,
  accountId = 'acc_1',
): Call<Id> {
  return {
    principal: { accountId, keyId: 'key_1', plan: 'paid', scopes: [] },
    request,
    change: { accountId, actor: 'key_1', operation, requestId: null, claim: null },
    signal: new AbortController().signal,
    lastEventId: null,
  };
}
