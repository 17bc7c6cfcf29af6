import { platforms as platformNames, type Rule } from '@earshot/contract';
import type { Handler } from '../accounts/call.ts';
import type { RuleValue } from '../slots/slot-holding.sql.ts';
import { noSuchRule } from './refusals.ts';
import type { RuleStore } from './rule-store.sql.ts';

export function getRule(store: Pick<RuleStore, 'get'>): Handler<'GetRule'> {
  return ({ principal: { accountId }, request }) => readRule(store, { accountId, ruleId: request.rule_id });
}

/** Throws if the account has no such rule. */
export async function readRule(
  store: Pick<RuleStore, 'get'>,
  { accountId, ruleId }: { accountId: string; ruleId: string },
): Promise<Rule> {
  const rule = await store.get(accountId, ruleId);
  if (!rule) throw noSuchRule();
  return rule;
}

/** The queries of the rule's current version. */
export function valuesOf(platforms: Rule['platforms']): RuleValue[] {
  return platformNames.flatMap((platform) => {
    const on = platforms[platform];
    if (!on) return [];
    const { value, translated_value: translatedValue, options = {} } = on;
    return [{ platform, value, translatedValue, options }];
  });
}
