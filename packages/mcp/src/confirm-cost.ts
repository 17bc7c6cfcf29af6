import { platforms as allPlatforms, type Estimate, type Platform } from '@earshot/contract';
import { EarshotError, type Rule } from '@earshot/sdk';
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
  { earshot, signal, confirmAboveUsd }: ToolCall,
): Promise<void> {
  const previewed = await orUnknown(earshot.previewRule(draft, { signal, timeoutMs: previewMsMax }));
  const estimates: Partial<Record<Platform, Estimate>> = {};
  let usd = 0;
  for (const platform of draft.platforms) {
    const estimate = previewed?.platforms[platform]?.estimate;
    if (!estimate?.usd_per_day) continue;
    estimates[platform] = estimate;
    usd += estimate.usd_per_day.max;
  }
  if (usd > confirmAboveUsd) throw new NeedsConfirmation(name, estimates, confirmAboveUsd);
}

/** The same for a paused rule, with the values that it has. */
export async function assertCheapToResume(ruleId: string, call: ToolCall): Promise<void> {
  const { earshot, signal } = call;
  const rule = await orUnknown(earshot.getRule({ rule_id: ruleId }, { signal, timeoutMs: previewMsMax }));
  // What is not paused, or paused for its budget, is not resumed: the API says why.
  if (rule?.state === 'paused' && rule.paused_for === null)
    await assertCheap({ name: rule.name, draft: draftOf(rule) }, call);
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
