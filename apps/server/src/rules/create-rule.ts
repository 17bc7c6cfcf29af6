import {
  type AnswerOf,
  type Budget,
  platforms as platformNames,
  type RequestOf,
  type Rule,
  type WireDiagnostic,
} from '@earshot/contract';
import type { Handler } from '../accounts/call.ts';
import type { Bells } from '../engines/bells.ts';
import type { Tiers } from '../language/rule-language.ts';
import type { Telemetry } from '../observability/telemetry.ts';
import type { Checkpoint } from '../runtime/checkpoint.ts';
import { Failure } from '../runtime/failure.ts';
import { newId } from '../runtime/ids.ts';
import type { RuleValue } from '../slots/slot-holding.sql.ts';
import { areRegistered, awaitLive, awaitRegistration, failureOf } from './await-registration.ts';
import {
  assertExamplesHold,
  assertPlanAllows,
  type CheckedRule,
  checkExamples,
  checkExpiry,
  checkRule,
} from './check-rule.ts';
import { assertJudge, placementRefusal } from './refusals.ts';
import type { Completion, NewRule, RuleStore } from './rule-store.sql.ts';

/** A change after which a rule may cost more. */
export interface SpendingChange {
  readonly accountId: string;
  /** The calling key. */
  readonly keyId: string;
  /** Null for a rule that is being created. */
  readonly ruleId: string | null;
  /** `start`: the rule is created or resumed. `query`: it gets a new query, options or platform. `limits`: neither. */
  readonly kind: 'start' | 'query' | 'limits';
  /** The rule's queries after the change. */
  readonly values: readonly RuleValue[];
  /** The rule's own budget after the change; undefined if it does not change. */
  readonly budget?: Budget | null | undefined;
  /** If true, the estimate is not compared with the budgets. */
  readonly acceptsEstimate: boolean;
}

/** Throws if the key may not make the change, or a budget does not allow it. Implemented in budgets/. */
export type AssertAffordable = (change: SpendingChange) => Promise<void>;

export interface CreateRuleOptions {
  readonly store: RuleStore;
  readonly assertAffordable: AssertAffordable;
  readonly tiers: Tiers;
  readonly contact: string;
  readonly bells: Bells;
  readonly checkpoint: Checkpoint;
  readonly telemetry: Telemetry;
  readonly nowMs: () => number;
  /** The operator has set up a judge. */
  readonly hasJudge: boolean;
}

type Request = RequestOf<'CreateRule'>;
type Answer = AnswerOf<'CreateRule'>;

/**
 * The rule is on all its platforms, or the call fails and nothing remains. Rows are written first; the registrars of the sources register
 * the slots; the call waits for the outcome. If this process dies, the rule stays `creating` and undo-abandoned.ts undoes it. If every slot
 * is already registered and every stream open, the first transaction makes the rule active, and no registrar is woken. A faster separate
 * path for that case is not worth its code: most of what it saved was the wake-up.
 */
export function createRule(options: CreateRuleOptions): Handler<'CreateRule'> {
  const { store, checkpoint, telemetry } = options;
  return async ({ principal, request, change }) => {
    const startedAt = performance.now();
    const { accountId, keyId } = principal;
    const { trial } = request;
    const premiumRulesMax = principal.limits.rules;
    const { values, warnings } = checkRule(request, options.tiers);
    assertPlanAllows(principal, request.platforms);
    assertJudge(request.relevance, options);
    const { expiresAt, budget } = limitsOf(request, options.nowMs());
    await addExampleWarnings(accountId, warnings, request);
    const rule: NewRule = {
      id: newId('rule'),
      accountId,
      createdBy: keyId,
      name: request.name,
      intent: request.intent,
      expiresAt,
      budget,
      isTrial: trial !== undefined,
      examples: request.examples ?? null,
      relevance: request.relevance ?? null,
      alerts: request.alerts ?? null,
      managedBy: request.managed_by ?? null,
      allowsEquivalent: request.allow_equivalent ?? true,
      premiumRulesMax,
      values,
    };
    await options.assertAffordable({
      accountId,
      keyId,
      ruleId: null,
      kind: 'start',
      values,
      budget,
      // A trial measures what a query costs, and has its own limits.
      acceptsEstimate: request.accept_estimate === true || trial !== undefined,
    });
    checkpoint('create.begin');
    const completion: Completion = {
      change,
      ruleId: rule.id,
      answer: (created, equivalentRuleId) =>
        withEquivalent(
          { ...created, rule_id: rule.id, platforms: withWarnings(created.platforms, warnings) },
          equivalentRuleId,
          values,
        ),
    };
    const outcome = await store.begin(rule, completion);
    if (outcome.kind === 'equivalent') throw hasEquivalent(outcome.ruleId);
    if (outcome.kind !== 'begun') throw placementRefusal(outcome, premiumRulesMax, options.contact);
    const created = outcome.answer ?? (await carryOut(options, rule, completion, outcome.equivalentRuleId));
    checkpoint('create.activated');
    const ms = Math.round(performance.now() - startedAt);
    telemetry.ruleCreated({ ruleId: rule.id, accountId: rule.accountId, ms });
    return created;
  };
}

function hasEquivalent(ruleId: string): Failure {
  return new Failure(
    'failed_precondition',
    `The rule ${ruleId} of this account has the same queries. Use it, resume it if it is paused, or send "allow_equivalent": true to create another one that gets the same matches.`,
    { details: { reason: 'equivalent_rule', rule_id: ruleId } },
  );
}

/** The limits that pause the rule automatically. A trial has limits of time and of matches. */
function limitsOf(
  { trial, expires_at, budget }: Request,
  nowMs: number,
): {
  expiresAt: Date | null;
  budget: Budget | null;
} {
  if (!trial) return { expiresAt: checkExpiry(expires_at) ?? null, budget: budget ?? null };
  return {
    expiresAt: new Date(nowMs + trial.minutes * 60_000),
    budget: { period: 'lifetime', matches: trial.max_matches, on_reached: 'pause' },
  };
}

/** Throws if an example fails. An undecided example is only a warning. */
async function addExampleWarnings(
  accountId: string,
  warnings: CheckedRule['warnings'],
  { overrides, examples }: Request,
): Promise<void> {
  if (!examples) return;
  const checked = await checkExamples(accountId, overrides, examples);
  assertExamplesHold(checked);
  for (const [platform, undecided] of checked.warnings) warnings.get(platform)?.push(...undecided);
}

/** Waits for the registrars, and then activates the rule. */
async function carryOut(
  options: CreateRuleOptions,
  rule: NewRule,
  completion: Completion,
  equivalentRuleId: string | null,
): Promise<Answer> {
  const { store, bells, checkpoint, telemetry } = options;
  const { id: ruleId, accountId } = rule;
  checkpoint('create.written');
  using outcomes = bells.listen('slot_outcomes');
  const readSlots = () => store.slotStates(ruleId);
  const seen = await readSlots();
  if (!areRegistered(seen)) bells.ring('slots');
  checkpoint('create.announced');
  const slots = await awaitRegistration(seen, readSlots, outcomes);
  const failure = failureOf(slots);
  if (failure) {
    telemetry.ruleRefused({ ruleId, accountId, reason: failure.code });
    await store.abandon(ruleId);
    checkpoint('create.abandoned');
    bells.ring('slots');
    throw failure;
  }
  checkpoint('create.registered');
  await awaitLive(slots, readSlots, outcomes);
  const answer = await store.activate(completion, equivalentRuleId);
  if (answer === null)
    throw new Failure('aborted', 'The creation took too long and was undone. Send the request again.', {
      details: { reason: 'timeout' },
    });
  return answer;
}

function withEquivalent(answer: Answer, ruleId: string | null, values: CheckedRule['values']): Answer {
  if (ruleId === null) return answer;
  for (const { platform, value } of values)
    answer.platforms[platform]?.warnings.push(equivalentRule(ruleId, value));
  return { ...answer, equivalent_rule_id: ruleId };
}

/** Not an error: the caller may want two rules with the same queries. */
function equivalentRule(ruleId: string, value: string): WireDiagnostic {
  return {
    severity: 'warning',
    code: 'equivalent_rule',
    message: `The rule ${ruleId} of this account has the same queries. Both rules get the same matches.`,
    span: { start: 0, end: value.length },
    fixes: [],
  };
}

function withWarnings(platforms: Rule['platforms'], warnings: CheckedRule['warnings']): Answer['platforms'] {
  const results: Answer['platforms'] = {};
  for (const platform of platformNames) {
    const registered = platforms[platform];
    if (registered) results[platform] = { ...registered, warnings: warnings.get(platform) ?? [] };
  }
  return results;
}
