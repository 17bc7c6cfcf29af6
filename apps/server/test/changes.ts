import type { Change, Claim } from '../src/accounts/change.ts';
import { defaultPricing } from '../src/billing/prices.ts';
import type { Database } from '../src/engines/database.ts';
import { pause } from '../src/rules/pause-rule.ts';
import { beginResume } from '../src/rules/resume-rule.ts';
import { applyChange, type BegunChange, type RuleUpdate, undoChange } from '../src/rules/rule-changes.sql.ts';
import type { Completion } from '../src/rules/rule-store.sql.ts';
import { beginUpdate } from '../src/rules/update-rule.ts';

export function changeBy(accountId: string, claim: Claim | null = null, operation = 'CreateRule'): Change {
  return { accountId, actor: 'key_1', operation, requestId: 'req_1', claim };
}

/** How a creation ends; the answer is the rule without its platforms. */
export function completionOf(change: Change, ruleId: string): Completion {
  return {
    change,
    ruleId,
    answer: (rule, equivalentRuleId) => ({
      ...rule,
      rule_id: ruleId,
      platforms: {},
      ...(equivalentRuleId !== null && { equivalent_rule_id: equivalentRuleId }),
    }),
  };
}

/** The steps of a rule's changes, without the waiting between them. */
export function changesOf(database: Database) {
  return {
    beginUpdate: (update: RuleUpdate, change: Change) =>
      beginUpdate(database, update, change, defaultPricing()),
    beginResume: (resume: Parameters<typeof beginResume>[1]) => beginResume(database, resume),
    apply: (begun: BegunChange, change: Change) => applyChange(database, begun, change, defaultPricing()),
    undo: (ruleId: string) => database.transaction((sql) => undoChange(sql, ruleId)),
    pause: (ruleId: string, change: Change) => pause(database, ruleId, change, defaultPricing()),
  };
}
