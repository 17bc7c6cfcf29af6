import type { Answers, Rule } from '@earshot/sdk';
import { formatTime } from '../../parts/format.ts';
import { platformNames } from '../../parts/platforms.ts';
import { reasonWords } from '../coverage/words.ts';

type Interval = Answers['GetCoverage']['intervals'][number];

export interface Silence {
  readonly title: string;
  readonly lines: readonly string[];
  readonly link: { readonly href: string; readonly label: string } | null;
}

export interface Silent {
  readonly rules: readonly Rule[];
  /** Null while it is not known. */
  readonly intervals: readonly Interval[] | null;
  readonly isRange: boolean;
  readonly now: Date;
}

/** Why nothing is listed: what is known about each platform, and what to do next. */
export function describeSilence({ rules, intervals, isRange, now }: Silent): Silence {
  if (rules.length === 0)
    return {
      title: 'There is no rule yet.',
      lines: ['A rule says what to listen for. Matches appear here within seconds.'],
      link: { href: '/rules/new', label: 'Write the first rule' },
    };
  if (rules.every(({ state }) => state === 'paused'))
    return {
      title: 'Nothing can match: every rule here is paused.',
      lines: [],
      link: { href: '/rules', label: 'Go to the rules' },
    };
  if (intervals === null) return { title: 'Nothing matched.', lines: [], link: null };
  const lines = [...Map.groupBy(intervals, ({ platform }) => platform)].map(
    ([platform, own]) => `${platformNames[platform]}: ${describePlatform(own, now)}`,
  );
  const hasGap = intervals.some(({ state }) => state === 'gap');
  return {
    title: isRange ? 'Nothing matched in this time.' : 'Nothing has matched yet.',
    lines,
    link: hasGap ? { href: '/coverage', label: 'See the gaps' } : null,
  };
}

function describePlatform(intervals: readonly Interval[], now: Date): string {
  const last = intervals.at(-1);
  if (!last || last.state === 'not_watched') return 'not watched.';
  const time = (at: string) => formatTime(at, now);
  if (last.state === 'starting')
    return `the platform has the rule and applies it ${last.to === null ? 'soon' : `from ${time(last.to)} on`}.`;
  if (last.state === 'gap' && last.to === null)
    return `not heard since ${time(last.from)}. ${reasonWords(last.reason)}.`;
  const gaps = intervals.filter(({ state }) => state === 'gap');
  const since = coveredSince(intervals);
  if (since === null) return 'not heard.';
  const before =
    gaps.length === 0 ? '' : `; before that, ${gaps.length === 1 ? 'a gap' : `${gaps.length} gaps`}`;
  return `covered without a gap since ${time(since)}, and nothing matched${before}.`;
}

/** Where the unbroken stretch begins that ends with the last interval; a repaired gap does not break it. */
function coveredSince(intervals: readonly Interval[]): string | null {
  let since: string | null = null;
  for (const { state, from } of intervals.toReversed()) {
    if (state !== 'live' && state !== 'repaired') break;
    since = from;
  }
  return since;
}
