import { type Budget, type Estimate, formatBudget, isLooserBudget, type Platform } from '@earshot/contract';
import { itemPrice } from '../billing/prices.ts';
import { type EstimateValueOptions, readKnowledge } from '../estimates/estimate-value.ts';
import { toEstimate } from '../estimates/estimate-volume.ts';
import type { AssertAffordable, SpendingChange } from '../rules/create-rule.ts';
import { Failure } from '../runtime/failure.ts';
import type { RuleValue } from '../slots/slot-holding.sql.ts';
import { decide, isAbove, resumeEarlyAfterMs, type Standing } from './budget.ts';
import {
  markKey,
  readSpending,
  readStanding,
  type Spending,
  type Subject,
  wasReached,
} from './budgets.sql.ts';

export interface AssertAffordableOptions extends EstimateValueOptions {
  /** Applies to rules without their own budget; null disables it. */
  readonly ruleBudget: Budget | null;
  readonly nowMs: () => number;
  /** If there is no estimate by then, the rule is created without one. */
  readonly answerWithinMs?: number;
}

type Estimates = Partial<Record<Platform, Estimate>>;

const weekMs = 7 * 86_400_000;
const usualAnswerWithinMs = 1_500;

/**
 * Decides for every change that may cost more, from every interface, before anything is spent.
 *
 * 1. A key with a budget changes only rules that spend this budget. Otherwise the budget would not bound what the key spends.
 * 2. A rule does not start while one of its budgets is reached: it would spend until the next check of the budgets stops it.
 * 3. A rule that a budget will probably pause is refused, unless the caller accepts the estimate. The estimate must be based on the
 *    history of the same query or from the platform's counts. Stored items and upper bounds are not enough to refuse a rule.
 */
export function createAssertAffordable(options: AssertAffordableOptions): AssertAffordable {
  const { database, ruleBudget, answerWithinMs = usualAnswerWithinMs } = options;
  return async (change) => {
    const spending = await readSpending(database, change, ruleBudget);
    if (spending.otherBudget) throw otherSpender(spending.otherBudget);
    const subjects = spending.subjects.filter(({ budget }) => budget.on_reached === 'pause');
    if (change.kind === 'start') await assertNotReached(options, subjects);
    if (subjects.length === 0 || !needsEstimate(change, spending, ruleBudget)) return;
    const estimates = await inTime(estimateAll(options, change), answerWithinMs);
    if (estimates === null) return;
    const perDay = sumOf(estimates);
    const now = new Date(options.nowMs());
    const exceeded = subjects.find(({ budget }) => isAbove(budget, perDay, now));
    if (exceeded) throw aboveBudget(exceeded, perDay, estimates);
  };
}

function needsEstimate(
  { kind, budget, acceptsEstimate }: SpendingChange,
  { formerBudget }: Spending,
  ruleBudget: Budget | null,
): boolean {
  if (acceptsEstimate) return false;
  if (kind !== 'limits') return true;
  const before = formerBudget ?? ruleBudget;
  return budget !== undefined && before !== null && isLooserBudget(before, budget ?? ruleBudget);
}

async function assertNotReached(
  { database, prices, nowMs }: AssertAffordableOptions,
  subjects: readonly Subject[],
): Promise<void> {
  for (const subject of subjects) {
    // A rule that is being created has spent nothing.
    if (subject.id === '') continue;
    const now = new Date(nowMs());
    const standing = await readStanding(database, subject, { prices, now });
    const isFinal = await wasReached(database, subject, markKey(subject, standing));
    if (isFinal || decide(standing, now).isReached) throw alreadyReached(subject, standing, isFinal);
  }
}

/** Estimates for the platforms that have one. */
async function estimateAll(options: AssertAffordableOptions, change: SpendingChange): Promise<Estimates> {
  const all = await Promise.all(
    change.values.map(
      async (value) => [value.platform, await estimate(options, change.accountId, value)] as const,
    ),
  );
  return Object.fromEntries(all.filter(([, one]) => one !== null));
}

async function estimate(
  options: AssertAffordableOptions,
  accountId: string,
  value: RuleValue,
): Promise<Estimate | null> {
  const nowMs = options.nowMs();
  const query = { accountId, value, since: new Date(nowMs - weekMs), nowMs };
  const { basis, seen } = await readKnowledge(options, query);
  if (!('basis' in basis)) return null;
  return toEstimate(basis, { seen, nowMs, price: itemPrice(options.prices, options.config, value.platform) });
}

/** Null when it takes longer. Counts that arrive later are kept for the next call; a later failure is ignored. */
async function inTime<Answer>(answer: Promise<Answer>, withinMs: number): Promise<Answer | null> {
  const { promise: late, resolve } = Promise.withResolvers<null>();
  const timer = setTimeout(() => resolve(null), withinMs);
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** An average day, at the highest reading of the prices, as budgets count. */
function sumOf(estimates: Estimates): { matches: number; usd: number } {
  let [matches, usd] = [0, 0];
  for (const { bound, matches_per_day, usd_per_day } of Object.values(estimates)) {
    if (bound === 'at_most') continue;
    matches += matches_per_day?.average ?? 0;
    usd += usd_per_day?.max ?? 0;
  }
  return { matches, usd };
}

const whose: Readonly<Record<Subject['kind'], string>> = {
  rule: 'the budget of the rule',
  key: 'the budget of the key',
  account: 'the budget of the account',
};

function aboveBudget(
  { kind, budget }: Subject,
  { matches, usd }: { matches: number; usd: number },
  estimate: Estimates,
): Failure {
  const isBound = Object.values(estimate).some(({ bound }) => bound === 'at_least');
  const count = Math.round(matches).toLocaleString('en-US');
  const average = `${isBound ? 'at least' : 'about'} ${count} matches and $${usd.toFixed(2)} on an average day`;
  return new Failure(
    'failed_precondition',
    `The rule would get ${average}, which is above ${whose[kind]} (${formatBudget(budget)}). Narrow its query, raise the budget, or send "accept_estimate": true to let the budget pause the rule.`,
    { details: { reason: 'budget_exceeded', budget, estimate } },
  );
}

function otherSpender(budget: Budget): Failure {
  return new Failure(
    'permission_denied',
    `The key has a budget (${formatBudget(budget)}), which this rule does not spend, because another key created the rule. Create a new rule with this key, or change the rule with a key without a budget.`,
    { details: { budget } },
  );
}

const instead: Readonly<Record<Subject['kind'], string>> = {
  rule: 'Give the rule a larger budget with UpdateRule',
  key: 'Use another key',
  account: 'Ask the operator of the service for a larger budget',
};

function alreadyReached(
  { kind, budget }: Subject,
  { cap, spent, period }: Standing,
  isFinal: boolean,
): Failure {
  const soon = !isFinal && spent < cap ? `, or try again in ${resumeEarlyAfterMs / 60_000} minutes` : null;
  const wait = soon ?? (period.end === null ? '' : `, or wait until ${period.end.toISOString()}`);
  const why = spent >= cap ? 'is spent' : `paused its rules early, with ${spent} of ${cap} spent`;
  return new Failure(
    'failed_precondition',
    `The rule cannot start, because ${whose[kind]} (${formatBudget(budget)}) ${why}. ${instead[kind]}${wait}.`,
    { details: { reason: 'budget_reached', budget } },
  );
}
