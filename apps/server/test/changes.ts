import type { AnswerOf } from '@earshot/contract';
import type { Change, Claim } from '../src/accounts/change.ts';

export function changeBy(accountId: string, claim: Claim | null = null, operation = 'CreateRule'): Change {
  return { accountId, actor: 'key_1', operation, requestId: 'req_1', claim };
}

export function created(ruleId: string): AnswerOf<'CreateRule'> {
  return { rule_id: ruleId, platforms: {} };
}
