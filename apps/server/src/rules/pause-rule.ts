import type { Rule } from '@earshot/contract';
import type { Handler } from '../accounts/call.ts';
import { type Change, keepAnswer } from '../accounts/change.ts';
import type { RulePricing } from '../billing/prices.ts';
import type { Bells } from '../engines/bells.ts';
import type { Database } from '../engines/database.ts';
import type { Telemetry } from '../observability/telemetry.ts';
import type { Checkpoint } from '../runtime/checkpoint.ts';
import { changeUnderWay, noSuchRule } from './refusals.ts';
import { lockRule, pauseLocked, readLocked } from './rule-changes.sql.ts';

export interface PauseRuleOptions {
  readonly database: Database;
  readonly bells: Bells;
  readonly checkpoint: Checkpoint;
  readonly telemetry: Telemetry;
  readonly pricing: RulePricing;
}

/** From now on nothing is matched; stored matches stay listed. The registrars remove the upstream rules. */
export function pauseRule({
  database,
  bells,
  checkpoint,
  telemetry,
  pricing,
}: PauseRuleOptions): Handler<'PauseRule'> {
  return async ({ request, change }) => {
    const { accountId } = change;
    const ruleId = request.rule_id;
    const outcome = await pause(database, ruleId, change, pricing);
    switch (outcome.kind) {
      case 'paused':
        break;
      case 'not_found':
        throw noSuchRule();
      case 'under_way':
        throw changeUnderWay();
    }
    checkpoint('pause.written');
    bells.ring('slots');
    telemetry.ruleChanged({ ruleId, accountId, change: 'paused' });
    return outcome.rule;
  };
}

type PauseOutcome =
  | { readonly kind: 'paused'; readonly rule: Rule }
  | { readonly kind: 'not_found' | 'under_way' };

/** Leaves all slots of the rule, unless a change is in progress. A rule that a budget has paused then stays paused. */
export function pause(
  database: Database,
  ruleId: string,
  change: Change,
  pricing: RulePricing,
): Promise<PauseOutcome> {
  return database.forRuleChange(change.accountId).transaction(async (sql) => {
    const rule = await lockRule(sql, ruleId);
    if (rule?.account_id !== change.accountId) return { kind: 'not_found' };
    if (rule.changing_to !== null) return { kind: 'under_way' };
    if (rule.state === 'paused' && rule.pause_reason === null) {
      const unchanged = await readLocked(sql, rule, pricing);
      await keepAnswer(sql, change, unchanged);
      return { kind: 'paused', rule: unchanged };
    }
    return { kind: 'paused', rule: await pauseLocked(sql, rule, change, { pricing }) };
  });
}
