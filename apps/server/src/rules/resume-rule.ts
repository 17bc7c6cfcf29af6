import { platforms as platformNames } from '@earshot/contract';
import type { Handler } from '../accounts/call.ts';
import { type Database, refusable, type Sql } from '../engines/database.ts';
import { type ChangeRuleOptions, changeRule } from './change-rule.ts';
import { assertPlanAllows } from './check-rule.ts';
import type { AssertAffordable } from './create-rule.ts';
import { readRule, valuesOf } from './get-rule.ts';
import {
  type ChangeOutcome,
  type LockedRule,
  lockRule,
  markBegun,
  type Refuse,
  takeSlots,
  toValue,
  versionRows,
} from './rule-changes.sql.ts';
import { countPremiumRules, isPremium } from './rule-rows.sql.ts';

/** The rule is on all its platforms again, or stays paused. */
export function resumeRule(
  options: ChangeRuleOptions & { readonly assertAffordable: AssertAffordable },
): Handler<'ResumeRule'> {
  return async ({ principal, request, change: requested }) => {
    const { accountId, keyId } = principal;
    const ruleId = request.rule_id;
    const { platforms, state } = await readRule(options.store, { accountId, ruleId });
    const listed = platformNames.filter((platform) => platforms[platform] !== undefined);
    assertPlanAllows(principal, listed);
    // A rule that is not paused is refused anyway, so it needs no estimate with a fee.
    if (state === 'paused')
      await options.assertAffordable({
        accountId,
        keyId,
        ruleId,
        kind: 'start',
        values: valuesOf(platforms),
        acceptsEstimate: request.accept_estimate === true,
      });
    const premiumRulesMax = principal.limits.rules;
    const begin = () => beginResume(options.database, { accountId, ruleId, premiumRulesMax });
    const rule = await changeRule(options, { accountId, ruleId, premiumRulesMax, requested, begin });
    options.telemetry.ruleChanged({ ruleId, accountId, change: 'resumed' });
    return rule;
  };
}

interface RuleResume {
  readonly accountId: string;
  readonly ruleId: string;
  readonly premiumRulesMax: number;
}

/** Takes the slots of a paused rule again. */
export function beginResume(database: Database, resume: RuleResume): Promise<ChangeOutcome> {
  return refusable<ChangeOutcome>(database.forRuleChange(resume.accountId), (sql, refuse) =>
    begin(sql, resume, refuse),
  );
}

/** If its budget check is due, budgets/resume-after-budget.ts checks and resumes the rule. */
function isHeldBack({ pause_reason, is_due }: LockedRule): boolean {
  return pause_reason === 'budget' && !is_due;
}

async function begin(sql: Sql, resume: RuleResume, refuse: Refuse): Promise<ChangeOutcome> {
  const rule = await lockRule(sql, resume.ruleId);
  if (rule?.account_id !== resume.accountId) return { kind: 'not_found' };
  if (rule.changing_to !== null) return { kind: 'under_way' };
  if (rule.state !== 'paused') return { kind: 'not_paused' };
  if (rule.expired) return { kind: 'expired' };
  if (isHeldBack(rule)) return { kind: 'budget_reached', resumesAt: rule.budget_check_at };
  const values = (await versionRows(sql, rule)).map(toValue);
  if (isPremium(values)) {
    // The paused rule itself is one of the counted rules.
    const used = await countPremiumRules(sql, rule.account_id);
    if (used > resume.premiumRulesMax) refuse({ kind: 'premium_limit', used });
  }
  await takeSlots(sql, { rule, values, version: rule.version }, refuse);
  return await markBegun(sql, { ruleId: rule.id, version: rule.version, update: null });
}
