import type { AnswerOf, RequestOf, WireDiagnostic } from '@earshot/contract';
import type { Plans } from '../accounts/plans.ts';
import type { Principal } from '../accounts/principal.ts';
import type { Change } from '../changes/change.ts';
import type { Events } from '../observability/events.ts';
import type { BellListener, Bells } from '../runtime/bell.ts';
import type { Checkpoint } from '../runtime/checkpoint.ts';
import { Failure } from '../runtime/failure.ts';
import { newId } from '../runtime/ids.ts';
import { awaitGone, awaitLive, awaitRegistration, failureOf } from './await-registration.ts';
import { assertPlanAllows, type CheckedRule, checkExpiry, checkRule } from './check-rule.ts';
import { placementRefusal } from './placement-refusal.ts';
import type { HeldSlot, RuleStore } from './rule-store.ts';

export interface CreateRuleOptions {
  readonly store: RuleStore;
  readonly plans: Plans;
  readonly contact: string;
  readonly bells: Bells;
  readonly checkpoint: Checkpoint;
  readonly events: Events;
}

type Request = RequestOf<'CreateRule'>;
type Answer = AnswerOf<'CreateRule'>;

/**
 * The rule is on all its platforms, or the call fails and nothing remains. Rows are written first; the
 * registrars of the sources do the upstream's part; here we wait for their outcome. If this process dies, the
 * rule stays `creating` and is undone by whoever finds it (see undo-abandoned-worker.ts).
 */
export function createCreateRule(options: CreateRuleOptions) {
  const { store, plans, bells, checkpoint, events } = options;
  return async (principal: Principal, request: Request, change: Change): Promise<Answer> => {
    const startedAt = performance.now();
    const plan = plans[principal.plan];
    const { values, warnings } = checkRule(request);
    assertPlanAllows(principal, plan, request.platforms);
    const expiresAt = checkExpiry(request.expires_at) ?? null;
    const ruleId = newId('rule');
    const { accountId } = principal;
    checkpoint('create.begin');
    using outcomes = bells.listen('slot_outcomes');
    const outcome = await store.begin({
      id: ruleId,
      accountId,
      name: request.name,
      intent: request.intent,
      expiresAt,
      premiumRulesMax: plan.premiumRulesMax,
      values,
    });
    if (outcome.kind !== 'begun') throw placementRefusal(outcome, plan.premiumRulesMax, options.contact);
    checkpoint('create.written');
    bells.ring('slots');
    checkpoint('create.announced');
    const look = () => store.slotStates(ruleId);
    const slots = await awaitRegistration(look, outcomes);
    const failure = failureOf(slots);
    if (failure) {
      events.ruleRefused({ ruleId, accountId, reason: failure.code });
      await undo(options, ruleId, outcomes);
      throw failure;
    }
    checkpoint('create.registered');
    const platforms = platformResults(await awaitLive(look, outcomes), warnings);
    const equivalentRuleId = await store.equivalentOf(accountId, ruleId);
    // The answer is whole before the rule becomes active, because it is stored in the same transaction.
    const answer = withEquivalent({ rule_id: ruleId, platforms }, equivalentRuleId, values);
    if (!(await store.activate(change, answer)))
      throw new Failure('aborted', 'The creation took too long: try again.');
    checkpoint('create.activated');
    events.ruleCreated({ ruleId, accountId, ms: Math.round(performance.now() - startedAt) });
    return answer;
  };
}

async function undo({ store, bells, checkpoint }: CreateRuleOptions, ruleId: string, outcomes: BellListener) {
  const slotIds = await store.abandon(ruleId);
  checkpoint('create.abandoned');
  bells.ring('slots');
  await awaitGone(store, slotIds, outcomes);
}

function withEquivalent(answer: Answer, ruleId: string | null, values: CheckedRule['values']): Answer {
  if (ruleId === null) return answer;
  for (const { platform, value } of values)
    answer.platforms[platform]?.warnings.push(equivalentRule(ruleId, value));
  return { ...answer, equivalent_rule_id: ruleId };
}

/** Not an error: two names for the same value can be what the caller wants. */
function equivalentRule(ruleId: string, value: string): WireDiagnostic {
  return {
    severity: 'warning',
    code: 'equivalent_rule',
    message: `The rule ${ruleId} of this account has the same values: both will receive the same matches.`,
    span: { start: 0, end: value.length },
    fixes: [],
  };
}

function platformResults(slots: readonly HeldSlot[], warnings: CheckedRule['warnings']): Answer['platforms'] {
  const results: Answer['platforms'] = {};
  for (const { platform, upstreamRuleId, translatedValue, live } of slots) {
    results[platform] = {
      platform_rule_id: upstreamRuleId ?? '',
      translated_value: translatedValue,
      status: live ? 'active' : 'pending',
      warnings: warnings.get(platform) ?? [],
    };
  }
  return results;
}
