import type { AnswerOf, Platform, RequestOf } from '@earshot/contract';
import type { Principal } from '../accounts/principal.ts';
import type { Change } from '../changes/change.ts';
import { type ChangeRuleOptions, changeRule, readRule } from './change-rule.ts';
import { assertPlanAllows } from './check-rule.ts';

/** On all its platforms again, or still paused. */
export function createResumeRule(options: ChangeRuleOptions) {
  return async (
    principal: Principal,
    request: RequestOf<'ResumeRule'>,
    asked: Change,
  ): Promise<AnswerOf<'ResumeRule'>> => {
    const { accountId } = principal;
    const ruleId = request.rule_id;
    const plan = options.plans[principal.plan];
    const { platforms } = await readRule(options.store, { accountId, ruleId });
    const listed: Platform[] = platforms.firehose ? ['firehose'] : [];
    assertPlanAllows(principal, plan, listed);
    const { premiumRulesMax } = plan;
    const begin = () => options.changes.beginResume({ accountId, ruleId, premiumRulesMax });
    const rule = await changeRule(options, { accountId, ruleId, premiumRulesMax, asked, begin });
    options.events.ruleChanged({ ruleId, accountId, change: 'resumed' });
    return rule;
  };
}
