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

export interface SilenceFacts {
  readonly rules: readonly Rule[];
  /** Null while the coverage loads. */
  readonly intervals: readonly Interval[] | null;
  readonly isRange: boolean;
  readonly now: Date;
}

/** Explains why no matches are listed: the coverage of each platform, and what to do next. */
export function describeSilence({ rules, intervals, isRange, now }: SilenceFacts): Silence {
  if (rules.length === 0)
    return {
      title: 'There are no rules yet.',
      lines: [
        'A rule describes the posts and pages that you want to get. Matches appear here within seconds.',
      ],
      link: { href: '/rules/new', label: 'Create the first rule' },
    };
  if (rules.every(({ state }) => state === 'paused'))
    return {
      title: 'Nothing can match, because every selected rule is paused.',
      lines: [],
      link: { href: '/rules', label: 'Show all rules' },
    };
  if (intervals === null) return { title: 'Nothing matched.', lines: [], link: null };
  const lines = [...Map.groupBy(intervals, ({ platform }) => platform)].map(
    ([platform, own]) => `${platformNames[platform]}: ${describePlatform(own, now)}`,
  );
  const hasGap = intervals.some(({ state }) => state === 'gap');
  return {
    title: isRange ? 'Nothing matched in this period.' : 'Nothing has matched yet.',
    lines,
    link: hasGap ? { href: '/coverage', label: 'Show the gaps' } : null,
  };
}

function describePlatform(intervals: readonly Interval[], now: Date): string {
  const last = intervals.at(-1);
  if (!last || last.state === 'not_watched') return 'no active rule.';
  const time = (at: string) => formatTime(at, now);
  if (last.state === 'starting')
    return `the platform will apply the rule ${last.to === null ? 'soon' : `from ${time(last.to)} on`}.`;
  if (last.state === 'gap' && last.to === null)
    return `disconnected since ${time(last.from)}. ${reasonWords(last.reason)}.`;
  const gaps = intervals.filter(({ state }) => state === 'gap');
  const since = coveredSince(intervals);
  if (since === null) return 'disconnected.';
  const before =
    gaps.length === 0 ? '' : `; before that, ${gaps.length === 1 ? 'a gap' : `${gaps.length} gaps`}`;
  const isRepaired = intervals.some(({ state, from }) => state === 'repaired' && from >= since);
  return `covered ${isRepaired ? 'or repaired' : 'without a gap'} since ${time(since)}, and nothing matched${before}.`;
}

/** When the uninterrupted coverage at the end began. Repaired gaps count as covered. */
function coveredSince(intervals: readonly Interval[]): string | null {
  let since: string | null = null;
  for (const { state, from } of intervals.toReversed()) {
    if (state !== 'live' && state !== 'repaired') break;
    since = from;
  }
  return since;
}
