import { type Budget, type Estimate, formatBudget, type Platform } from '@earshot/contract';
import { itemPrice } from '../metering/prices.ts';
import type { AssertAffordable, RuleDraft } from '../rules/create-rule.ts';
import { Failure } from '../runtime/failure.ts';
import type { RuleValue } from '../slots/slot-holding.sql.ts';
import { isAbove } from './budget.ts';
import { type Subject, subjectsOfDraft, watchedRules } from './budgets.sql.ts';
import { betterBasis, type EstimateValueOptions } from './estimate-value.ts';
import { toEstimate } from './estimate-volume.ts';
import { keepEstimate } from './estimates.sql.ts';

export interface AssertAffordableOptions extends EstimateValueOptions {
  /** Of a rule that has none of its own; null for none. */
  readonly ruleBudget: Budget | null;
  /** Without an answer by then, the rule is created. */
  readonly answerWithinMs?: number;
}

type Estimates = Partial<Record<Platform, Estimate>>;

const weekMs = 7 * 86_400_000;
const usualAnswerWithinMs = 1_500;

/**
 * Refuses a rule that will probably be stopped by a budget, before it has cost anything. Only what a budget would pause is
 * refused, and only by what the same value brought or what the platform counts: stored items know too little, and neither
 * does an upper bound say that so much will come.
 */
export function createAssertAffordable(options: AssertAffordableOptions): AssertAffordable {
  const { answerWithinMs = usualAnswerWithinMs } = options;
  return async (draft) => {
    const subjects = (await budgetsOf(options, draft)).filter(({ budget }) => budget.on_reached === 'pause');
    if (subjects.length === 0) return;
    const estimates = await inTime(estimateAll(options, draft), answerWithinMs);
    if (estimates === null) return;
    const perDay = sumOf(estimates);
    const now = new Date();
    const exceeded = subjects.find(({ budget }) => isAbove(budget, perDay, now));
    if (exceeded) throw aboveBudget(exceeded, perDay, estimates);
  };
}

async function budgetsOf(
  { database, ruleBudget }: AssertAffordableOptions,
  { accountId, payer }: RuleDraft,
): Promise<readonly Subject[]> {
  if ('ruleId' in payer) return (await watchedRules(database, [payer.ruleId], ruleBudget))[0]?.subjects ?? [];
  const budget = payer.budget ?? ruleBudget;
  return await subjectsOfDraft(database, { accountId, keyId: payer.keyId, budget });
}

/** Of the platforms of which something is known. */
async function estimateAll(options: AssertAffordableOptions, draft: RuleDraft): Promise<Estimates> {
  const all = await Promise.all(
    draft.values.map(
      async (value) => [value.platform, await estimate(options, draft.accountId, value)] as const,
    ),
  );
  return Object.fromEntries(all.filter(([, one]) => one !== null));
}

async function estimate(
  options: AssertAffordableOptions,
  accountId: string,
  value: RuleValue,
): Promise<Estimate | null> {
  const nowMs = Date.now();
  const asked = { accountId, value, since: new Date(nowMs - weekMs), nowMs };
  const basis = await betterBasis(options, asked);
  if (!('basis' in basis)) return null;
  await keepEstimate(options.database, { accountId, value, basis });
  return toEstimate(basis, itemPrice(options.prices, options.config, value.platform));
}

/** Null when it takes longer. What comes later is kept for the next call, and what fails later is nobody's concern. */
async function inTime<Answer>(answer: Promise<Answer>, withinMs: number): Promise<Answer | null> {
  const { promise: late, resolve } = Promise.withResolvers<null>();
  const timer = setTimeout(() => resolve(null), withinMs);
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Of a typical day, at the highest reading of the prices, as budgets are counted. */
function sumOf(estimates: Estimates): { matches: number; usd: number } {
  let [matches, usd] = [0, 0];
  for (const { bound, matches_per_day, usd_per_day } of Object.values(estimates)) {
    if (bound === 'at_most') continue;
    matches += matches_per_day?.p50 ?? 0;
    usd += usd_per_day?.max ?? 0;
  }
  return { matches, usd };
}

const whose: Readonly<Record<Subject['kind'], string>> = {
  rule: 'the budget of the rule',
  key: 'the budget of the key that creates it',
  account: 'the budget of the account',
};

function aboveBudget(
  { kind, budget }: Subject,
  { matches, usd }: { matches: number; usd: number },
  estimate: Estimates,
): Failure {
  const brings = `about ${Math.round(matches)} matches and $${usd.toFixed(2)} on a typical day`;
  return new Failure(
    'failed_precondition',
    `The rule would bring ${brings}, which is above ${whose[kind]} (${formatBudget(budget)}): narrow its values, raise the budget, or send "accept_estimate": true to go on, and it is paused when the budget is reached.`,
    { details: { budget, estimate } },
  );
}
