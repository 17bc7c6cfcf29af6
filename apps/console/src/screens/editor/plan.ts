import type { Rule } from '@earshot/sdk';
import { formatExactTime } from '../../parts/format.ts';
import { type Platform, platformNames, platforms } from '../../parts/platforms.ts';
import { type BudgetDraft, type Draft, draftOf, filledExamplesOf } from './draft.ts';
import { languages } from './languages.ts';

export interface PlanLine {
  readonly what: string;
  /** Null if it is new. */
  readonly before: string | null;
  /** Null if it is removed. */
  readonly after: string | null;
  readonly isCode: boolean;
}

/** Lists what saving changes. For a new rule, this is everything. */
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
  /** Lines are equal if this is equal. */
  readonly compared: string;
  readonly isCode: boolean;
}

/** Describes the draft, by label. */
function linesOf(draft: Draft): ReadonlyMap<string, Line> {
  const text = (words: string, compared = words): Line => ({ words, compared, isCode: false });
  const examples = filledExamplesOf(draft);
  const { must_match, must_not_match } = examples;
  const hasExamples = must_match.length + must_not_match.length > 0;
  return new Map([
    ['Name', text(draft.name)],
    ['Intent', text(draft.intent)],
    ...platforms
      .filter((platform) => draft.chosen.includes(platform))
      .map((platform) => [`Registered on ${platformNames[platform]}`, queryLine(draft, platform)] as const),
    ['Budget', text(budgetWords(draft.budget))],
    ...(draft.judge ? [['Judge', text(judgeWords(draft))] as const] : []),
    ...(draft.alerts !== 'off' ? [['Alerts', text(`${draft.alerts} sensitivity`)] as const] : []),
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

function queryLine({ queries }: Draft, platform: Platform): Line {
  const value = queries[platform];
  return { words: languages[platform].validate(value).canonical ?? value, compared: value, isCode: true };
}

function judgeWords({ criteria }: Draft): string {
  return ['checks whether new matches are relevant', ...criteria.filter((one) => one.trim() !== '')].join(
    '; ',
  );
}

function budgetWords({ amount, unit, period, reaction }: BudgetDraft): string {
  if (amount.trim() === '') return 'none; the operator’s default may apply';
  const what = unit === 'usd' ? `$${amount}` : `${amount} matches`;
  const often = { day: 'per day', month: 'per month', lifetime: 'in total' }[period];
  return `${what} ${often}, then ${reaction === 'pause' ? 'the rule is paused' : 'you get a notice'}`;
}
