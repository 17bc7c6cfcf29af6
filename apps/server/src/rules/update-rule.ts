import type { Platform, RequestOf } from '@earshot/contract';
import type { Handler, Principal } from '../accounts/call.ts';
import { type ChangeRuleOptions, changeRule, readRule } from './change-rule.ts';
import { assertExamplesHold, checkExamples } from './check-examples.ts';
import { assertPlanAllows, checkExpiry, checkRule } from './check-rule.ts';

export interface UpdateRuleOptions extends ChangeRuleOptions {
  /** How long an old value stays registered beside its successor, which is not effective at once (x.md §3.6). */
  readonly keepOldMs: number;
}

/** The named fields change, all of them or none. */
export function updateRule(options: UpdateRuleOptions): Handler<'UpdateRule'> {
  return async ({ principal, request, change: asked }) => {
    const { accountId } = principal;
    const { rule_id: ruleId, name, intent, platforms, overrides } = request;
    const plan = options.plans[principal.plan];
    const values = platforms && overrides && checkRule({ platforms, overrides }).values;
    assertPlanAllows(principal, plan, platforms ?? []);
    await assertExamples(options, principal, request);
    const { premiumRulesMax } = plan;
    const update = {
      accountId,
      ruleId,
      name,
      intent,
      expiresAt: checkExpiry(request.expires_at),
      examples: request.examples,
      managedBy: request.managed_by,
      ifVersion: request.if_version,
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

/** The examples of the rule as it would be: those that it has protect it from a value that breaks them. */
async function assertExamples(
  { store }: UpdateRuleOptions,
  { accountId }: Principal,
  request: RequestOf<'UpdateRule'>,
): Promise<void> {
  const concerned = request.overrides !== undefined || request.examples !== undefined;
  if (!concerned || request.examples === null) return;
  const rule = await readRule(store, { accountId, ruleId: request.rule_id });
  const examples = request.examples ?? rule.examples;
  if (!examples) return;
  const written = (platform: Platform) => rule.platforms[platform]?.value;
  const overrides = request.overrides ?? { x: written('x'), firehose: written('firehose') };
  assertExamplesHold(checkExamples(overrides, examples));
}
