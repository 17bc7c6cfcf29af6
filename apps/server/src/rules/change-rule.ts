import type { Rule } from '@earshot/contract';
import type { Change } from '../accounts/change.ts';
import type { Plans } from '../accounts/plans.ts';
import type { BellListener, Bells } from '../engines/bells.ts';
import type { Events } from '../observability/events.ts';
import type { Checkpoint } from '../runtime/checkpoint.ts';
import { Failure } from '../runtime/failure.ts';
import { awaitGone, awaitLive, awaitRegistration, failureOf } from './await-registration.ts';
import { noSuchRule } from './no-such-rule.ts';
import { placementRefusal } from './placement-refusal.ts';
import type { ChangeOutcome, RuleChangeStore } from './rule-change-store.ts';
import type { RuleStore } from './rule-store.ts';

export interface ChangeRuleOptions {
  readonly store: Pick<RuleStore, 'get' | 'slotStates' | 'stillReleasing'>;
  readonly changes: RuleChangeStore;
  readonly plans: Plans;
  readonly contact: string;
  readonly bells: Bells;
  readonly checkpoint: Checkpoint;
  readonly events: Events;
}

export interface RuleChange {
  readonly accountId: string;
  readonly ruleId: string;
  readonly premiumRulesMax: number;
  /** As it was asked for: recorded when it takes effect. */
  readonly asked: Change;
  begin(): Promise<ChangeOutcome>;
}

/**
 * What an update and a resume have in common: rows first, then the registrars do the upstream's part, then the
 * change is applied or undone. If this process dies in between, rule-upkeep-worker.ts undoes it.
 */
export async function changeRule(options: ChangeRuleOptions, change: RuleChange): Promise<Rule> {
  using outcomes = options.bells.listen('slot_outcomes');
  const outcome = await change.begin();
  switch (outcome.kind) {
    case 'applied':
      // A platform that was taken off the rule leaves a slot behind.
      options.bells.ring('slots');
      return outcome.rule;
    case 'begun':
      return await carryOut(options, { ...change, ...outcome, outcomes });
    case 'not_found':
      throw noSuchRule();
    case 'under_way':
      throw changeUnderWay();
    case 'not_paused':
      throw new Failure('failed_precondition', 'The rule is not paused: only a paused rule can be resumed.');
    case 'expired':
      throw new Failure(
        'failed_precondition',
        'The rule has expired: give it another "expires_at" with UpdateRule, or null, and then resume it.',
      );
    case 'premium_limit':
    case 'no_source':
    case 'sources_full':
      throw placementRefusal(outcome, change.premiumRulesMax, options.contact);
  }
}

export async function readRule(
  store: Pick<RuleStore, 'get'>,
  { accountId, ruleId }: { accountId: string; ruleId: string },
): Promise<Rule> {
  const rule = await store.get(accountId, ruleId);
  if (!rule) throw noSuchRule();
  return rule;
}

export function changeUnderWay(): Failure {
  return new Failure('aborted', 'Another change of this rule is under way: send this one again in a moment.');
}

async function carryOut(
  { store, changes, bells, checkpoint, events }: ChangeRuleOptions,
  begun: RuleChange & Extract<ChangeOutcome, { kind: 'begun' }> & { outcomes: BellListener },
): Promise<Rule> {
  const { accountId, ruleId, change, outcomes } = begun;
  checkpoint('change.written');
  bells.ring('slots');
  const look = () => store.slotStates(ruleId, change.version);
  const slots = await awaitRegistration(look, outcomes);
  const failure = failureOf(slots, 'the rule stays as it was');
  if (failure) {
    events.ruleChangeRefused({ ruleId, accountId, reason: failure.code });
    const slotIds = await changes.undo(ruleId);
    checkpoint('change.undone');
    bells.ring('slots');
    await awaitGone(store, slotIds, outcomes);
    throw failure;
  }
  checkpoint('change.registered');
  // Before it is applied, because the answer is stored with it.
  await awaitLive(slots, look, outcomes);
  const rule = await changes.apply(change, begun.asked);
  if (!rule)
    throw new Failure('aborted', 'The rule was changed or deleted meanwhile, or the change took too long.');
  checkpoint('change.applied');
  return rule;
}
