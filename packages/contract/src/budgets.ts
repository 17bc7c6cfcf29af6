import { z } from 'zod';
import { timestamp } from './answer-fields.ts';
import {
  alsoWhenFieldsFail,
  integer,
  type RequestIssue,
  requestIssue,
  requestObject,
} from './request-fields.ts';

const USD_MAX = 1_000_000;
const MATCHES_MAX = 1_000_000_000;

/** From the shortest to the longest. */
const periods = ['day', 'month', 'lifetime'] as const;
const reactions = ['pause', 'notify'] as const;

const usd = z
  .number()
  .superRefine((value, context) => {
    if (!isAmount(value)) context.addIssue(requestIssue('invalid_value', badAmount));
  })
  .meta({ exclusiveMinimum: 0, maximum: USD_MAX });

const badAmount = `Must be US dollars above 0 and up to ${USD_MAX}, to the millionth at most.`;

function isAmount(value: number): boolean {
  return value > 0 && value <= USD_MAX && /^\d+(\.\d{1,6})?$/.test(String(value));
}

const amountsOf = z.object({ usd: z.unknown().optional(), matches: z.unknown().optional() });

/** What may be spent. Exactly one of `usd` and `matches`. */
export const budget = requestObject(
  {
    period: z.enum(periods).meta({
      description:
        'The period in which spending is counted: from the start of the UTC day or month, or of the rule.',
    }),
    usd: usd.optional().meta({
      description:
        'US dollars, counted at the highest possible price, as `usd.max` in GetUsage, so that the budget holds in any case.',
    }),
    matches: integer(1, MATCHES_MAX).optional().meta({ description: 'In place of `usd`: matches.' }),
    on_reached: z.enum(reactions).default('pause').meta({
      description:
        '`pause`: the rule is paused, and resumes automatically when the next period begins; after an early pause also once after two minutes. `notify`: only a notice.',
    }),
  },
  '"budget"',
)
  .superRefine((given, context) => {
    const amounts = amountsOf.safeParse(given);
    if (!amounts.success) return;
    if ((amounts.data.usd === undefined) === (amounts.data.matches === undefined))
      context.addIssue(requestIssue('invalid_value', 'Needs exactly one of "usd" and "matches".'));
  }, alsoWhenFieldsFail)
  .meta({
    description:
      'What may be spent in a period. It may stop the rule early, never late by more than what the platform delivers until it applies a pause (up to 70 s on X, 15 s on Firehose). The rule resumes when the next period begins, at midnight UTC.',
  });

export type Budget = z.output<typeof budget>;

/** A budget as it was set, without its spending. */
export const budgetTerms = z.strictObject({
  period: z.enum(periods).meta({ description: 'Spending is counted from the start of this period.' }),
  usd: z.number().optional().meta({ description: 'US dollars, counted at the highest possible price.' }),
  matches: z.int().optional().meta({ description: 'In place of `usd`: matches.' }),
  on_reached: z.enum(reactions).meta({ description: 'Whether rules are paused, or only a notice is sent.' }),
});

export const budgetState = budgetTerms
  .extend({
    spent: z.number().meta({ description: 'Spent in this period, in the unit of the budget.' }),
    remaining: z.number().min(0).meta({ description: 'Left in this period, in the unit of the budget.' }),
    reserved: z.number().min(0).meta({
      description:
        'What may still arrive until the platforms apply a pause, at the rate of the last minute, in the unit of the budget. The rule is paused when `spent` plus `reserved` reaches the budget.',
    }),
    forecast: z.number().min(0).nullable().meta({
      description:
        'Spent at the end of the period at the rate since its start, or since the rule began to listen in it, in the unit of the budget. Null in the first hour of either, in the first 2% of the period, while the rule is paused, and for `lifetime`.',
    }),
    resets_at: timestamp
      .nullable()
      .meta({ description: 'When the next period begins; null for `lifetime`.' }),
  })
  .meta({ description: 'The budget that limits the rule, and its spending.' });

const grammar = /^(usd|matches)=(\d{1,10}(?:\.\d{1,6})?)\/(day|month|lifetime)(?::(pause|notify))?$/;

export const budgetGrammar = 'usd=5/day, matches=1000/month or, for a notice only, usd=5/day:notify';

/** Reads `usd=5/day` and `matches=1000/month:notify`; null when it is no budget. */
export function parseBudget(text: string): Budget | null {
  const [, unit = '', amount, period, reaction] = grammar.exec(text.trim()) ?? [];
  const parsed = budget.safeParse({ period, [unit]: Number(amount), on_reached: reaction });
  return parsed.success ? parsed.data : null;
}

/** The same text for the same budget. */
export function formatBudget({ period, usd, matches, on_reached }: Budget): string {
  const amount = usd === undefined ? `matches=${matches}` : `usd=${usd}`;
  return `${amount}/${period}${on_reached === 'pause' ? '' : `:${on_reached}`}`;
}

/**
 * Whether `after` may allow more spending than `before`, in any stretch of time. The same amount for a longer period does not.
 * Dollars and matches cannot be compared: then it may.
 */
export function isLooserBudget(before: Budget, after: Budget | null): boolean {
  if (after === null || periods.indexOf(after.period) < periods.indexOf(before.period)) return true;
  if (before.on_reached === 'pause' && after.on_reached === 'notify') return true;
  const unit = before.usd === undefined ? 'matches' : 'usd';
  const [from, to] = [before[unit], after[unit]];
  return from === undefined || to === undefined || to > from;
}

/** A rule that runs for a short time to measure how much it matches. */
export const trial = requestObject(
  {
    minutes: integer(1, 1_440).meta({ description: 'The rule is paused after this many minutes.' }),
    max_matches: integer(1, 10_000).meta({
      description: 'The rule is also paused after this many matches: a `budget` of matches for its lifetime.',
    }),
  },
  '"trial"',
).meta({
  description:
    'Runs the rule for a short time to measure how much it matches. It sets `expires_at` and `budget`. PreviewRule then uses the result as an estimate. To continue, change both with UpdateRule and resume the rule.',
});

export type Trial = z.output<typeof trial>;

const withTrial = z.looseObject({ trial: z.unknown() });

/** Takes anything: it also runs on a request whose fields are wrong. */
export function trialConflicts(request: unknown): RequestIssue[] {
  const { data } = withTrial.safeParse(request);
  if (data?.trial === undefined) return [];
  return ['expires_at', 'budget']
    .filter((field) => data[field] !== undefined)
    .map((field) => requestIssue('invalid_value', 'Not together with "trial", which sets it.', [field]));
}

export const trialGrammar = '30m,matches=50 or 2h,matches=500';

/** Reads `30m,matches=50`; null when it is no trial. */
export function parseTrial(text: string): Trial | null {
  const [, time, unit, matches] = /^(\d{1,4})([mh]),matches=(\d{1,5})$/.exec(text.trim()) ?? [];
  const minutes = Number(time) * (unit === 'h' ? 60 : 1);
  const parsed = trial.safeParse({ minutes, max_matches: Number(matches) });
  return parsed.success ? parsed.data : null;
}
