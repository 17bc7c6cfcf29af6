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

/** Longer than a preview takes; a rule is not kept waiting for one that does not come. */
const previewMsMax = 5_000;
const nameLengthMax = 100;

type Draft = Parameters<ToolCall['earshot']['previewRule']>[0];
type Estimates = Readonly<Partial<Record<Platform, Estimate>>>;

/** A rule would cost so much that the user decides: nothing was done. */
export class NeedsConfirmation extends Error {
  readonly estimates: Estimates;
  constructor(name: string, estimates: Estimates, aboveUsd: number) {
    const each = Object.entries(estimates).map(([platform, estimate]) => {
      const { matches_per_day, usd_per_day } = estimateWords(estimate);
      return `${platform}: ${matches_per_day} matches and ${usd_per_day} US dollars a day`;
    });
    const rule = unhidden(name.slice(0, nameLengthMax).toWellFormed());
    super(`The rule "${rule}" would bring ${each.join('; ')}. That may be more than $${aboveUsd} a day.`);
    this.estimates = estimates;
  }
}

/** The user was asked and did not agree. */
export class Declined extends Error {}

/**
 * Throws unless the rule is likely to stay below the bound, at the highest reading of the prices. What cannot be estimated is let
 * through: it is for budgets to stop.
 */
export async function assertCheap(
  { name, draft }: { readonly name: string; readonly draft: Draft },
  call: ToolCall,
): Promise<void> {
  const { estimates, usd } = await estimate(draft, call);
  if (usd > call.confirmAboveUsd) throw new NeedsConfirmation(name, estimates, call.confirmAboveUsd);
}

/** Dollars a day at the highest reading of the prices; platforms without an estimate count as nothing. */
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

/** The same for a paused rule, with the values that it has. */
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

/** The same for a change that makes a rule dearer: a query that costs more than the present one, or a larger budget or none. */
export async function assertCheapToUpdate(update: Update, call: ToolCall): Promise<void> {
  const { rule_id, platforms, overrides, options, budget } = update;
  if ([platforms, overrides, options, budget].every((field) => field === undefined)) return;
  const { earshot, signal, confirmAboveUsd } = call;
  const rule = await orUnknown(earshot.getRule({ rule_id }, { signal, timeoutMs: previewMsMax }));
  // It costs nothing until resume_rule, which asks.
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

/** A rule without its own budget has the operator's default, which is not known here. */
function mayCostMore(before: Rule['budget'], after: Update['budget'], aboveUsd: number): boolean {
  if (before) return isLooserBudget(before, after ?? null);
  return after ? isLooserBudget({ period: 'day', usd: aboveUsd, on_reached: 'pause' }, after) : false;
}

/** Values that the rule had earlier on a platform to which it returns are not known here: budgets cover them. */
function draftAfter(before: Draft, { platforms, overrides, options }: Update): Draft {
  const values: Draft['overrides'] = { ...before.overrides, ...overrides };
  const watched = allPlatforms.filter(
    (platform) => values[platform] !== undefined && (platforms?.includes(platform) ?? true),
  );
  const all: Draft['options'] = { ...before.options, ...options };
  const kept = Object.entries(all).filter(([name]) => watched.some((platform) => platform === name));
  return {
    platforms: watched,
    overrides: Object.fromEntries(watched.map((platform) => [platform, values[platform]])),
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

/** What the API refuses here it also refuses, or allows, where it counts. */
async function orUnknown<Answer>(asked: Promise<Answer>): Promise<Answer | null> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof EarshotError) return null;
    throw error;
  }
}
