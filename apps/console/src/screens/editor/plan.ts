import { languages } from '@earshot/query';
import type { Rule } from '@earshot/sdk';
import { formatExactTime } from '../../parts/format.ts';
import { platformNames } from '../../parts/platforms.ts';
import { type BudgetDraft, type Draft, draftOf, examplesOf, type Platform, platforms } from './draft.ts';

export interface PlanLine {
  readonly what: string;
  /** Null where there was nothing. */
  readonly before: string | null;
  /** Null where nothing is left. */
  readonly after: string | null;
  readonly isCode: boolean;
}

/** What saving would do, line by line; of a change only what differs. */
export function planOf(draft: Draft, rule: Rule | undefined): PlanLine[] {
  const before = rule ? linesOf(draftOf(rule)) : new Map<string, Line>();
  const after = linesOf(draft);
  return [...new Set([...after.keys(), ...before.keys()])].flatMap((what) => {
    const [old, now] = [before.get(what), after.get(what)];
    if (old?.compared === now?.compared) return [];
    const isCode = (now ?? old)?.isCode === true;
    return [{ what, before: old?.words ?? null, after: now?.words ?? null, isCode }];
  });
}

interface Line {
  readonly words: string;
  /** Two lines are the same where this is. */
  readonly compared: string;
  readonly isCode: boolean;
}

/** What a rule with this draft is, by name. */
function linesOf(draft: Draft): ReadonlyMap<string, Line> {
  const text = (words: string, compared = words): Line => ({ words, compared, isCode: false });
  const examples = examplesOf(draft);
  const { must_match, must_not_match } = examples;
  const hasExamples = must_match.length + must_not_match.length > 0;
  return new Map([
    ['Name', text(draft.name)],
    ['Intent', text(draft.intent)],
    ...platforms
      .filter((platform) => draft.chosen.includes(platform))
      .map((platform) => [`Registered on ${platformNames[platform]}`, valueLine(draft, platform)] as const),
    ['Budget', text(budgetWords(draft.budget))],
    ['Expires', text(draft.expires === '' ? 'never' : formatExactTime(draft.expires), draft.expires)],
    ...(hasExamples
      ? [
          [
            'Examples',
            text(
              `${must_match.length} must match, ${must_not_match.length} must not`,
              JSON.stringify(examples),
            ),
          ] as const,
        ]
      : []),
  ]);
}

function valueLine({ values }: Draft, platform: Platform): Line {
  const value = values[platform];
  return { words: languages[platform].validate(value).canonical ?? value, compared: value, isCode: true };
}

function budgetWords({ amount, unit, period, reaction }: BudgetDraft): string {
  if (amount.trim() === '') return 'none of its own; the operator’s default may apply';
  const what = unit === 'usd' ? `$${amount}` : `${amount} matches`;
  const often = { day: 'a day', month: 'a month', lifetime: 'in all' }[period];
  return `${what} ${often}, then ${reaction === 'pause' ? 'it is paused' : 'a notice is raised'}`;
}
