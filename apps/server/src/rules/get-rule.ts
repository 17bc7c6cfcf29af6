import type { AnswerOf, RequestOf } from '@earshot/contract';
import type { Principal } from '../accounts/principal.ts';
import { readRule } from './change-rule.ts';
import type { RuleStore } from './rule-store.ts';

export function createGetRule(store: Pick<RuleStore, 'get'>) {
  return ({ accountId }: Principal, request: RequestOf<'GetRule'>): Promise<AnswerOf<'GetRule'>> =>
    readRule(store, { accountId, ruleId: request.rule_id });
}
