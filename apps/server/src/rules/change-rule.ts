import type { Rule } from '@earshot/contract';
import type { Change } from '../accounts/change.ts';
import type { RulePricing } from '../billing/prices.ts';
import type { BellListener, Bells } from '../engines/bells.ts';
import type { Database } from '../engines/database.ts';
import type { Telemetry } from '../observability/telemetry.ts';
import type { Checkpoint } from '../runtime/checkpoint.ts';
import { Failure } from '../runtime/failure.ts';
import { areRegistered, awaitLive, awaitRegistration, failureOf } from './await-registration.ts';
import { budgetReached, changeUnderWay, noSuchRule, placementRefusal } from './refusals.ts';
import { applyChange, type ChangeOutcome, undoChange } from './rule-changes.sql.ts';
import type { RuleStore } from './rule-store.sql.ts';

export interface ChangeRuleOptions {
  readonly store: Pick<RuleStore, 'get' | 'slotStates'>;
  readonly database: Database;
  readonly contact: string;
  readonly pricing: RulePricing;
  readonly bells: Bells;
  readonly checkpoint: Checkpoint;
  readonly telemetry: Telemetry;
}

export interface RuleChange {
  readonly accountId: string;
  readonly ruleId: string;
  readonly premiumRulesMax: number;
  /** Recorded when the change is applied. */
  readonly requested: Change;
  begin(): Promise<ChangeOutcome>;
}

/**
 * The common part of an update and a resume. Rows are written first, then the registrars register the new slots, then the change is
 * applied or undone. If this process dies in between, undo-abandoned.ts undoes it.
 */
export async function changeRule(options: ChangeRuleOptions, change: RuleChange): Promise<Rule> {
  using outcomes = options.bells.listen('slot_outcomes');
  const outcome = await change.begin();
  switch (outcome.kind) {
    case 'applied':
      // The slot of a platform that was removed from the rule is released.
      options.bells.ring('slots');
      return outcome.rule;
    case 'begun':
      return await carryOut(options, { ...change, ...outcome, outcomes });
    case 'not_found':
      throw noSuchRule();
    case 'under_way':
      throw changeUnderWay();
    case 'not_paused':
      throw new Failure('failed_precondition', 'The rule is not paused. You can only resume a paused rule.', {
        details: { reason: 'not_paused' },
      });
    case 'expired':
      throw new Failure(
        'failed_precondition',
        'The rule has expired. Set "expires_at" to a later time or null with UpdateRule, then resume the rule.',
        { details: { reason: 'expired' } },
      );
    case 'budget_reached':
      throw budgetReached(outcome.resumesAt);
    case 'premium_limit':
    case 'no_source':
    case 'sources_full':
    case 'slots_share':
    case 'calls_share':
      throw placementRefusal(outcome, change.premiumRulesMax, options.contact);
  }
}

async function carryOut(
  { store, database, pricing, bells, checkpoint, telemetry }: ChangeRuleOptions,
  begun: RuleChange & Extract<ChangeOutcome, { kind: 'begun' }> & { outcomes: BellListener },
): Promise<Rule> {
  const { accountId, ruleId, change, outcomes } = begun;
  checkpoint('change.written');
  const readSlots = () => store.slotStates(ruleId, change.version);
  const seen = await readSlots();
  if (!areRegistered(seen)) bells.ring('slots');
  const slots = await awaitRegistration(seen, readSlots, outcomes);
  const failure = failureOf(slots, 'the rule stays as it was');
  if (failure) {
    telemetry.ruleChangeRefused({ ruleId, accountId, reason: failure.code });
    await database.transaction((sql) => undoChange(sql, ruleId));
    checkpoint('change.undone');
    bells.ring('slots');
    throw failure;
  }
  checkpoint('change.registered');
  // Before the change is applied, because the answer is stored with it.
  await awaitLive(slots, readSlots, outcomes);
  const rule = await applyChange(database, change, begun.requested, pricing);
  if (!rule)
    throw new Failure(
      'aborted',
      'The rule was changed or deleted in the meantime, or the change took too long. Read the rule, then decide.',
      { details: { reason: 'conflict' } },
    );
  checkpoint('change.applied');
  return rule;
}
