import type { ErrorDetails, Requests, Rule } from '@earshot/sdk';
import { type Platform, platforms } from '../../parts/platforms.ts';
import { languages } from './languages.ts';

export type Expectation = 'must_match' | 'must_not_match';
type Examples = NonNullable<Rule['examples']>;
export type Example = Examples[Expectation][number];

/** The state of the rule form. */
export interface Draft {
  readonly name: string;
  readonly intent: string;
  /** One query per platform. A platform that is not chosen keeps its text. */
  readonly queries: Readonly<Record<Platform, string>>;
  readonly chosen: readonly Platform[];
  readonly examples: Examples;
  readonly budget: BudgetDraft;
  /** Whether the judge checks the matches. */
  readonly judge: boolean;
  readonly criteria: readonly string[];
  readonly alerts: NonNullable<Rule['alerts']> | 'off';
  /** The value of a `datetime-local` field, such as `2026-11-16T18:30`; empty for never. */
  readonly expires: string;
}

export interface BudgetDraft {
  /** Empty for no budget. */
  readonly amount: string;
  readonly unit: 'usd' | 'matches';
  readonly period: 'day' | 'month' | 'lifetime';
  readonly reaction: 'pause' | 'notify';
}

export const emptyDraft: Draft = {
  name: '',
  intent: '',
  queries: { x: '', firehose: '', bluesky: '' },
  chosen: ['x'],
  examples: { must_match: [], must_not_match: [] },
  budget: { amount: '', unit: 'usd', period: 'day', reaction: 'pause' },
  judge: false,
  criteria: [],
  alerts: 'off',
  expires: '',
};

export function draftOf(rule: Rule): Draft {
  const { budget, examples, expires_at, relevance, alerts } = rule;
  const value = (platform: Platform) => rule.platforms[platform]?.value ?? '';
  return {
    name: rule.name,
    intent: rule.intent,
    queries: { x: value('x'), firehose: value('firehose'), bluesky: value('bluesky') },
    chosen: platforms.filter((platform) => rule.platforms[platform] !== undefined),
    examples: examples ?? emptyDraft.examples,
    budget: budget
      ? {
          amount: String(budget.usd ?? budget.matches),
          unit: budget.usd === undefined ? 'matches' : 'usd',
          period: budget.period,
          reaction: budget.on_reached,
        }
      : emptyDraft.budget,
    judge: relevance?.judge ?? false,
    criteria: relevance?.criteria ?? [],
    alerts: alerts ?? 'off',
    expires: expires_at === null ? '' : localTime(new Date(expires_at)),
  };
}

export function overridesOf({ chosen, queries }: Pick<Draft, 'chosen' | 'queries'>) {
  return Object.fromEntries(chosen.map((platform) => [platform, queries[platform]]));
}

/** The examples for the chosen platforms. The API refuses others. */
export function examplesOf({ examples, chosen }: Pick<Draft, 'examples' | 'chosen'>): Examples {
  return filtered(examples, ({ platform }) => chosen.includes(platform));
}

/** The examples to save: not those without a text, which match nothing. */
export function filledExamplesOf(draft: Pick<Draft, 'examples' | 'chosen'>): Examples {
  return filtered(examplesOf(draft), (example) => !isBlank(example));
}

export function isBlank({ payload }: Example): boolean {
  return (payload.text ?? '').trim() === '' && (payload.title ?? '').trim() === '';
}

function filtered(examples: Examples, isWanted: (example: Example) => boolean): Examples {
  return {
    must_match: examples.must_match.filter(isWanted),
    must_not_match: examples.must_not_match.filter(isWanted),
  };
}

export function creationOf(draft: Draft): Requests['CreateRule'] {
  const budget = budgetOf(draft.budget);
  const examples = filledExamplesOf(draft);
  return {
    name: draft.name,
    intent: draft.intent,
    platforms: [...draft.chosen],
    overrides: overridesOf(draft),
    ...(budget && { budget }),
    ...(draft.expires !== '' && { expires_at: new Date(draft.expires).toISOString() }),
    ...(hasExamples(examples) && { examples }),
    ...(draft.judge && { relevance: relevanceOf(draft) }),
    ...(draft.alerts !== 'off' && { alerts: draft.alerts }),
  };
}

/** A request with only the fields that differ, so that it does not undo concurrent changes of other fields. */
export function updateOf(rule: Rule, draft: Draft): Requests['UpdateRule'] {
  const before = draftOf(rule);
  const differs = (part: keyof Draft) => JSON.stringify(before[part]) !== JSON.stringify(draft[part]);
  const queriesDiffer =
    before.chosen.join() !== draft.chosen.join() ||
    draft.chosen.some((platform) => before.queries[platform] !== draft.queries[platform]);
  const examples = filledExamplesOf(draft);
  return {
    rule_id: rule.id,
    if_version: rule.version,
    ...(differs('name') && { name: draft.name }),
    ...(differs('intent') && { intent: draft.intent }),
    ...(queriesDiffer && { platforms: [...draft.chosen], overrides: overridesOf(draft) }),
    ...(differs('budget') && { budget: budgetOf(draft.budget) }),
    ...((differs('judge') || differs('criteria')) && {
      relevance: { ...rule.relevance, ...relevanceOf(draft) },
    }),
    ...(differs('alerts') && { alerts: draft.alerts === 'off' ? null : draft.alerts }),
    ...(differs('expires') && {
      expires_at: draft.expires === '' ? null : new Date(draft.expires).toISOString(),
    }),
    ...(JSON.stringify(before.examples) !== JSON.stringify(examples) && {
      examples: hasExamples(examples) ? examples : null,
    }),
  };
}

function relevanceOf({ judge, criteria }: Draft) {
  return { judge, criteria: criteria.filter((criterion) => criterion.trim() !== '') };
}

/** Null without an amount. An amount that is not a number is sent as NaN, so that the server reports it. */
function budgetOf({ amount, unit, period, reaction }: BudgetDraft) {
  if (amount.trim() === '') return null;
  return { period, [unit]: Number(amount), on_reached: reaction };
}

/** What the form must have before it can be saved. */
export function missingIn({ name, intent, chosen, queries }: Draft): NonNullable<ErrorDetails['violations']> {
  const texts = [
    ['name', name, 'Enter a name.'],
    ['intent', intent, 'Say what the rule is for.'],
    ...chosen.map((platform) => [`overrides.${platform}`, queries[platform], 'Enter a query.'] as const),
  ] as const;
  const missing = texts.flatMap(([field, text, message]) =>
    text.trim() === '' ? [{ field, code: 'required' as const, message }] : [],
  );
  const invalid = chosen
    .filter(
      (platform) => queries[platform].trim() !== '' && !languages[platform].validate(queries[platform]).valid,
    )
    .map((platform) => ({
      field: `overrides.${platform}`,
      code: 'invalid_value' as const,
      message: 'Correct the errors of the query.',
    }));
  const unchosen =
    chosen.length > 0
      ? []
      : [{ field: 'platforms', code: 'required' as const, message: 'Choose at least one platform.' }];
  return [...missing, ...invalid, ...unchosen];
}

function hasExamples({ must_match, must_not_match }: Examples): boolean {
  return must_match.length + must_not_match.length > 0;
}

function localTime(time: Date): string {
  const local = new Date(time.getTime() - time.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16);
}
