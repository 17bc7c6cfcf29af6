import type { AnswerOf, Platform, RequestOf, Violation, WireDiagnostic } from '@earshot/contract';
import type { Plans } from '../accounts/plans.ts';
import type { Principal } from '../accounts/principal.ts';
import type { Change } from '../changes/change.ts';
import { checkValue, toViolation } from '../language/rule-language.ts';
import type { Events } from '../observability/events.ts';
import type { BellListener, Bells } from '../runtime/bell.ts';
import type { Checkpoint } from '../runtime/checkpoint.ts';
import { Failure } from '../runtime/failure.ts';
import { newId } from '../runtime/ids.ts';
import type { BeginOutcome, HeldSlot, NewRuleValue, RuleStore } from './rule-store.ts';

/** How long the upstreams may take to confirm. */
const confirmWithinMs = 15_000;
/** A first rule opens its stream: wait a moment, so that what happens after the answer is heard. */
const liveWithinMs = 3_000;
/** After a refusal: until the other platform's rule is gone, within reason. */
const undoneWithinMs = 5_000;
const lookAgainMs = 500;

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
    if (!plan.paid && request.platforms.includes('firehose')) {
      throw new Failure('permission_denied', 'Rules on "firehose" need a paid plan.', {
        details: { plan: principal.plan, platform: 'firehose' },
      });
    }
    const ruleId = newId('rule');
    const { accountId } = principal;
    checkpoint('create.begin');
    using outcomes = bells.listen('slot_outcomes');
    const outcome = await store.begin({
      id: ruleId,
      accountId,
      name: request.name,
      intent: request.intent,
      premiumRulesMax: plan.premiumRulesMax,
      values,
    });
    if (outcome.kind !== 'begun') throw refusal(outcome, plan.premiumRulesMax, options.contact);
    checkpoint('create.written');
    bells.ring('slots');
    checkpoint('create.announced');
    const slots = await awaitRegistration(store, ruleId, outcomes);
    const failure = failureOf(slots);
    if (failure) {
      events.ruleRefused({ ruleId, accountId, reason: failure.code });
      await undo(options, ruleId, outcomes);
      throw failure;
    }
    checkpoint('create.registered');
    const live = await awaitLive(store, ruleId, outcomes);
    // The answer is whole before the rule becomes active, because it is stored in the same transaction.
    const answer = { rule_id: ruleId, platforms: platformResults(live, warnings) };
    if (!(await store.activate(change, answer)))
      throw new Failure('aborted', 'The creation took too long: try again.');
    checkpoint('create.activated');
    events.ruleCreated({ ruleId, accountId, ms: Math.round(performance.now() - startedAt) });
    return answer;
  };
}

interface CheckedRule {
  readonly values: NewRuleValue[];
  readonly warnings: ReadonlyMap<Platform, WireDiagnostic[]>;
}

/** Throws with every error of every value, so that a rule is mended in one go. */
function checkRule({ platforms, overrides }: Request): CheckedRule {
  const values: NewRuleValue[] = [];
  const warnings = new Map<Platform, WireDiagnostic[]>();
  const violations: Violation[] = [];
  for (const platform of platforms) {
    const value = overrides[platform] ?? '';
    const { canonical, diagnostics } = checkValue(platform, value);
    const isError = ({ severity }: WireDiagnostic) => severity === 'error';
    violations.push(...diagnostics.filter(isError).map((one) => toViolation(platform, one)));
    warnings.set(
      platform,
      diagnostics.filter((one) => !isError(one)),
    );
    if (canonical !== null) values.push({ platform, value, translatedValue: canonical });
  }
  const [first] = violations;
  if (first)
    throw new Failure('invalid_argument', `${first.field}: ${first.message}`, { details: { violations } });
  return { values, warnings };
}

function refusal(outcome: Exclude<BeginOutcome, { kind: 'begun' }>, limit: number, contact: string): Failure {
  switch (outcome.kind) {
    case 'premium_limit':
      return new Failure(
        'resource_exhausted',
        `The account has ${outcome.used} of ${limit} rules on "x": delete one, or ask ${contact} for more.`,
        { details: { limit, used: outcome.used, platform: 'x', contact } },
      );
    case 'no_source':
      return new Failure(
        'unavailable',
        `This installation has no credential for "${outcome.platform}": its operator has to configure one.`,
        { details: { platform: outcome.platform }, retryAfterSeconds: 60 },
      );
    case 'sources_full':
      return new Failure(
        'resource_exhausted',
        `All ${outcome.capacity} upstream rules of "${outcome.platform}" are in use: ask ${contact} for more.`,
        {
          details: { limit: outcome.capacity, used: outcome.capacity, platform: outcome.platform, contact },
        },
      );
  }
}

async function awaitRegistration(
  store: RuleStore,
  ruleId: string,
  outcomes: BellListener,
): Promise<HeldSlot[]> {
  const settled = (slots: readonly HeldSlot[]) =>
    slots.every(({ state }) => state === 'registered') || slots.some(({ state }) => state === 'failed');
  return await awaitSlots(() => store.slotStates(ruleId), settled, { outcomes, withinMs: confirmWithinMs });
}

async function awaitLive(store: RuleStore, ruleId: string, outcomes: BellListener): Promise<HeldSlot[]> {
  return await awaitSlots(
    () => store.slotStates(ruleId),
    (slots) => slots.every(({ live }) => live),
    { outcomes, withinMs: liveWithinMs },
  );
}

/** Looks until `done` says yes or the time is up, and returns what it saw last. */
async function awaitSlots<Seen>(
  look: () => Promise<Seen>,
  done: (seen: Seen) => boolean,
  { outcomes, withinMs }: { outcomes: BellListener; withinMs: number },
): Promise<Seen> {
  const deadline = performance.now() + withinMs;
  const never = new AbortController().signal;
  for (;;) {
    const seen = await look();
    const leftMs = deadline - performance.now();
    if (done(seen) || leftMs <= 0) return seen;
    await outcomes.wait(Math.min(lookAgainMs, leftMs), never);
  }
}

function failureOf(slots: readonly HeldSlot[]): Failure | null {
  for (const { platform, state, problem, problemKind } of slots) {
    if (state !== 'failed') continue;
    if (problemKind === 'full') {
      return new Failure('resource_exhausted', `"${platform}" takes no more rules: ${problem ?? ''}`, {
        details: { platform },
      });
    }
    return new Failure('invalid_argument', `"${platform}" refused the rule: ${problem ?? ''}`, {
      details: { platform, violations: [upstreamViolation(platform, problem ?? '')] },
    });
  }
  const waiting = slots.find(({ state }) => state !== 'registered');
  if (!waiting) return null;
  const { platform, problem } = waiting;
  return problem === null
    ? new Failure(
        'deadline_exceeded',
        `"${platform}" did not confirm the rule in time; nothing was created.`,
        {
          details: { platform },
        },
      )
    : new Failure('unavailable', `"${platform}" cannot register rules at the moment; nothing was created.`, {
        details: { platform },
        retryAfterSeconds: 30,
        cause: problem,
      });
}

function upstreamViolation(platform: Platform, words: string): Violation {
  return { field: `overrides.${platform}`, code: 'upstream_rejected', message: words };
}

async function undo({ store, bells, checkpoint }: CreateRuleOptions, ruleId: string, outcomes: BellListener) {
  const slotIds = await store.abandon(ruleId);
  checkpoint('create.abandoned');
  bells.ring('slots');
  await awaitSlots(
    () => store.stillReleasing(slotIds),
    (left) => left === 0,
    { outcomes, withinMs: undoneWithinMs },
  );
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
