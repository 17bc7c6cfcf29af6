import type { OperationId, RequestOf } from '@earshot/contract';
import type { Call } from '../src/accounts/call.ts';
import type { AccountLimits } from '../src/accounts/plans.ts';

export const testLimits: AccountLimits = {
  rules: 10,
  requests: 600,
  changes: 100,
  keys: 10,
  webhooks: 10,
  readers: 10,
  digests: 10,
  mails: 100,
  counts: 100,
};

/** A call of an operation with a key that has all scopes, as the HTTP server would pass it. */
export function callOf<Id extends OperationId>(
  operation: Id,
  request: RequestOf<Id>,
  accountId = 'acc_1',
): Call<Id> {
  return {
    principal: { accountId, keyId: 'key_1', plan: 'paid', limits: testLimits, scopes: [] },
    request,
    change: { accountId, actor: 'key_1', operation, requestId: null, claim: null },
    signal: new AbortController().signal,
    lastEventId: null,
  };
}
