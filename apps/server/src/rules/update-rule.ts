import type { AnswerOf, RequestOf } from '@earshot/contract';
import type { Principal } from '../accounts/principal.ts';
import type { Change } from '../changes/change.ts';
import { type ChangeRuleOptions, changeRule } from './change-rule.ts';
import { assertPlanAllows, checkExpiry, checkRule } from './check-rule.ts';

export interface UpdateRuleOptions extends ChangeRuleOptions {
  /** How long an old value stays registered beside its successor, which is not effective at once (x.md §3.6). */
  readonly keepOldMs: number;
}

/** The named fields change, all of them or none. */
export function createUpdateRule(options: UpdateRuleOptions) {
  return async (
    principal: Principal,
    request: RequestOf<'UpdateRule'>,
    asked: Change,
  ): Promise<AnswerOf<'UpdateRule'>> => {
    const { accountId } = principal;
    const { rule_id: ruleId, name, intent, platforms, overrides } = request;
    const plan = options.plans[principal.plan];
    const values = platforms && overrides && checkRule({ platforms, overrides }).values;
    assertPlanAllows(principal, plan, platforms ?? []);
    const { premiumRulesMax } = plan;
    const update = {
      accountId,
      ruleId,
      name,
      intent,
      expiresAt: checkExpiry(request.expires_at),
      values,
      premiumRulesMax,
      keepOldMs: options.keepOldMs,
    };
    const begin = () => options.changes.beginUpdate(update, asked);
    const rule = await changeRule(options, { accountId, ruleId, premiumRulesMax, asked, begin });
    options.events.ruleChanged({ ruleId, accountId, change: 'updated' });
    return rule;
  };
}
