import { isDeepStrictEqual } from 'node:util';
import {
  platforms as allPlatforms,
  type Budget,
  type Estimate,
  isLooserBudget,
  type Platform,
} from '@earshot/contract';
import { EarshotError, type Requests, type Rule } from '@earshot/sdk';
import { unhidden } from './content/visible.ts';
import { estimateWords } from './estimate-words.ts';
import { perPlatform } from './per-platform.ts';
import type { ToolCall } from './tool.ts';

/** Longer than a preview takes. After that, the rule is created without an estimate. */
const previewMsMax = 5_000;
const nameLengthMax = 100;

type Draft = Parameters<ToolCall['earshot']['previewRule']>[0];
type Estimates = Readonly<Partial<Record<Platform, Estimate>>>;

/** The rule may cost so much that the user must agree. Nothing was done. */
export class NeedsConfirmation extends Error {
  readonly estimates: Estimates;
  constructor(name: string, estimates: Estimates, aboveUsd: number) {
    const each = Object.entries(estimates).map(([platform, estimate]) => {
      const { matches_per_day, usd_per_day } = estimateWords(estimate);
      return `${matches_per_day} matches and ${usd_per_day} US dollars a day on ${platform}`;
    });
    const rule = unhidden(name.slice(0, nameLengthMax).toWellFormed());
    super(`The rule "${rule}" is estimated at ${each.join('; ')}. That may be more than $${aboveUsd} a day.`);
    this.estimates = estimates;
  }
}

/** The user did not agree to the cost. */
export class Declined extends Error {}

/**
 * Throws if the rule may cost more than the bound, at the highest possible prices. Rules without an estimate pass: budgets
 * limit them.
 */
export async function assertCheap(
  { name, draft }: { readonly name: string; readonly draft: Draft },
  call: ToolCall,
): Promise<void> {
  const { estimates, usd } = await estimate(draft, call);
  if (usd > call.confirmAboveUsd) throw new NeedsConfirmation(name, estimates, call.confirmAboveUsd);
}

/** Dollars a day at the highest possible prices. Platforms without an estimate count as 0. */
async function estimate(
  draft: Draft,
  { earshot, signal }: ToolCall,
): Promise<{ readonly estimates: Estimates; readonly usd: number }> {
  const previewed = await orUnknown(earshot.previewRule(draft, { signal, timeoutMs: previewMsMax }));
  const estimates: Partial<Record<Platform, Estimate>> = {};
  let usd = 0;
  for (const platform of allPlatforms) {
    const found = previewed?.platforms[platform]?.estimate;
    if (!found?.usd_per_day) continue;
    estimates[platform] = found;
    usd += found.usd_per_day.max;
  }
  return { estimates, usd };
}

/** The same check for a paused rule, with its current queries. */
export async function assertCheapToResume(ruleId: string, call: ToolCall): Promise<void> {
  const { earshot, signal } = call;
  const rule = await orUnknown(earshot.getRule({ rule_id: ruleId }, { signal, timeoutMs: previewMsMax }));
  // The API refuses to resume other rules, and says why.
  if (rule && isPausedByCaller(rule)) await assertCheap({ name: rule.name, draft: draftOf(rule) }, call);
}

/** Such a rule stays paused until it is resumed. */
function isPausedByCaller({ pause }: Rule): boolean {
  return pause?.reason === 'request' || pause?.reason === 'expired';
}

type Update = Omit<Requests['UpdateRule'], 'budget'> & { readonly budget?: Budget | null | undefined };

/** The same check for a change that may cost more: a more expensive query, a larger budget or none. */
export async function assertCheapToUpdate(update: Update, call: ToolCall): Promise<void> {
  const { rule_id, platforms, overrides, options, budget } = update;
  if ([platforms, overrides, options, budget].every((field) => field === undefined)) return;
  const { earshot, signal, confirmAboveUsd } = call;
  const rule = await orUnknown(earshot.getRule({ rule_id }, { signal, timeoutMs: previewMsMax }));
  // It costs nothing until resume_rule, which checks the cost.
  if (!rule || isPausedByCaller(rule)) return;
  const before = draftOf(rule);
  const after = draftAfter(before, update);
  const isLooser = budget !== undefined && mayCostMore(rule.budget, budget, confirmAboveUsd);
  if (!isLooser && isDeepStrictEqual(before, after)) return;
  const { estimates, usd } = await estimate(after, call);
  if (usd <= confirmAboveUsd) return;
  if (isLooser || usd > (await estimate(before, call)).usd)
    throw new NeedsConfirmation(update.name ?? rule.name, estimates, confirmAboveUsd);
}

/** For a rule without its own budget, a new one is looser if it exceeds the bound for confirmation. */
function mayCostMore(before: Rule['budget'], after: Update['budget'], aboveUsd: number): boolean {
  if (before) return isLooserBudget(before, after ?? null);
  return after ? isLooserBudget({ period: 'day', usd: aboveUsd, on_reached: 'pause' }, after) : false;
}

/** Ignores queries of platforms to which the rule returns: their estimates are unknown here, and budgets limit them. */
function draftAfter(before: Draft, { platforms, overrides, options }: Update): Draft {
  const queries: Draft['overrides'] = { ...before.overrides, ...overrides };
  const watched = allPlatforms.filter(
    (platform) => queries[platform] !== undefined && (platforms?.includes(platform) ?? true),
  );
  const all: Draft['options'] = { ...before.options, ...options };
  const kept = Object.entries(all).filter(([name]) => watched.some((platform) => platform === name));
  return {
    platforms: watched,
    overrides: Object.fromEntries(watched.map((platform) => [platform, queries[platform]])),
    options: Object.fromEntries(kept),
  };
}

function draftOf({ platforms }: Rule): Draft {
  const watched = allPlatforms.filter((platform) => platforms[platform] !== undefined);
  return {
    platforms: watched,
    overrides: perPlatform(platforms, ({ value }) => value),
    options: perPlatform(platforms, ({ options }) => options),
  };
}

/** Null if the API refuses this check. The API decides about the change itself later. */
async function orUnknown<Answer>(request: Promise<Answer>): Promise<Answer | null> {
  try {
    return await request;
  } catch (error) {
    if (error instanceof EarshotError) return null;
    throw error;
  }
}
