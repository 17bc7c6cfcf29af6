import type { Handler } from '../accounts/call.ts';
import { readRule } from './change-rule.ts';
import type { RuleStore } from './rule-store.ts';

export function getRule(store: Pick<RuleStore, 'get'>): Handler<'GetRule'> {
  return ({ principal: { accountId }, request }) => readRule(store, { accountId, ruleId: request.rule_id });
}
