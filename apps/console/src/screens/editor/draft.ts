import type { Requests, Rule } from '@earshot/sdk';

export type Platform = 'x' | 'firehose';
export const platforms: readonly Platform[] = ['x', 'firehose'];

export type Expectation = 'must_match' | 'must_not_match';
type Examples = NonNullable<Rule['examples']>;
export type Example = Examples[Expectation][number];

/** A rule as the form has it. */
export interface Draft {
  readonly name: string;
  readonly intent: string;
  /** Of all platforms: one that is not chosen keeps its text. */
  readonly values: Readonly<Record<Platform, string>>;
  readonly chosen: readonly Platform[];
  readonly examples: Examples;
  readonly budget: BudgetDraft;
  /** As a field for local times has it: `2026-11-16T18:30`; empty for never. */
  readonly expires: string;
}

export interface BudgetDraft {
  /** Empty: no budget. */
  readonly amount: string;
  readonly unit: 'usd' | 'matches';
  readonly period: 'day' | 'month' | 'lifetime';
  readonly reaction: 'pause' | 'notify';
}

export const emptyDraft: Draft = {
  name: '',
  intent: '',
  values: { x: '', firehose: '' },
  chosen: ['x'],
  examples: { must_match: [], must_not_match: [] },
  budget: { amount: '', unit: 'usd', period: 'day', reaction: 'pause' },
  expires: '',
};

export function draftOf(rule: Rule): Draft {
  const { budget, examples, expires_at } = rule;
  const value = (platform: Platform) => rule.platforms[platform]?.value ?? '';
  return {
    name: rule.name,
    intent: rule.intent,
    values: { x: value('x'), firehose: value('firehose') },
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
    expires: expires_at === null ? '' : localTime(new Date(expires_at)),
  };
}

export function overridesOf({ chosen, values }: Pick<Draft, 'chosen' | 'values'>) {
  return Object.fromEntries(chosen.map((platform) => [platform, values[platform]]));
}

/** Examples of platforms that the rule is not on would be refused. */
export function examplesOf({ examples, chosen }: Pick<Draft, 'examples' | 'chosen'>): Examples {
  const own = (list: readonly Example[]) => list.filter(({ platform }) => chosen.includes(platform));
  return { must_match: own(examples.must_match), must_not_match: own(examples.must_not_match) };
}

export function creationOf(draft: Draft): Requests['CreateRule'] {
  const budget = budgetOf(draft.budget);
  const examples = examplesOf(draft);
  return {
    name: draft.name,
    intent: draft.intent,
    platforms: [...draft.chosen],
    overrides: overridesOf(draft),
    ...(budget && { budget }),
    ...(draft.expires !== '' && { expires_at: new Date(draft.expires).toISOString() }),
    ...(hasExamples(examples) && { examples }),
  };
}

/** Only what differs from the rule: everything else stays as it is, whoever changed it meanwhile. */
export function updateOf(rule: Rule, draft: Draft): Requests['UpdateRule'] {
  const before = draftOf(rule);
  const differs = (part: keyof Draft) => JSON.stringify(before[part]) !== JSON.stringify(draft[part]);
  const values =
    before.chosen.join() !== draft.chosen.join() ||
    draft.chosen.some((platform) => before.values[platform] !== draft.values[platform]);
  const examples = examplesOf(draft);
  return {
    rule_id: rule.id,
    if_version: rule.version,
    ...(differs('name') && { name: draft.name }),
    ...(differs('intent') && { intent: draft.intent }),
    ...(values && { platforms: [...draft.chosen], overrides: overridesOf(draft) }),
    ...(differs('budget') && { budget: budgetOf(draft.budget) }),
    ...(differs('expires') && {
      expires_at: draft.expires === '' ? null : new Date(draft.expires).toISOString(),
    }),
    ...(JSON.stringify(before.examples) !== JSON.stringify(examples) && {
      examples: hasExamples(examples) ? examples : null,
    }),
  };
}

/** Null without an amount. What is no number is sent as it is, so that the server says what is wrong with it. */
function budgetOf({ amount, unit, period, reaction }: BudgetDraft) {
  if (amount.trim() === '') return null;
  return { period, [unit]: Number(amount), on_reached: reaction };
}

function hasExamples({ must_match, must_not_match }: Examples): boolean {
  return must_match.length + must_not_match.length > 0;
}

function localTime(time: Date): string {
  const local = new Date(time.getTime() - time.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16);
}
