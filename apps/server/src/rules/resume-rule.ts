import type { Platform } from '@earshot/contract';
import type { Handler } from '../accounts/call.ts';
import { type ChangeRuleOptions, changeRule, readRule } from './change-rule.ts';
import { assertPlanAllows } from './check-rule.ts';

/** On all its platforms again, or still paused. */
export function resumeRule(options: ChangeRuleOptions): Handler<'ResumeRule'> {
  return async ({ principal, request, change: asked }) => {
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
