import { formatDuration } from '../../parts/duration.ts';
import { formatTime } from '../../parts/format.ts';
import type { Interval, Summary } from './intervals.ts';
import { reasonWords } from './words.ts';

/** Describes a timeline in words. */
export function laneWords(intervals: readonly Interval[], summary: Summary, now: Date): string {
  const { covered, gaps, repaired, missingMs, open } = summary;
  if (open) {
    // The platform may have been disconnected before the rule began.
    const began = intervals.at(-2)?.state === 'starting' ? 'the rule started' : formatTime(open.from, now);
    return `Disconnected since ${began}: ${lowered(reasonWords(open.reason))}`;
  }
  if (covered === null && intervals.at(-1)?.state !== 'starting') return 'Not active in this period';
  const missing = gaps > 0 ? [`${counted(gaps, 'gap')}, ${formatDuration(missingMs)} missing`] : [];
  const isSearched = intervals.some(({ repair }) => repair?.state === 'repaired' && repair.via === 'search');
  const limit = isSearched ? ' as far as a search finds posts' : '';
  const fetched = repaired > 0 ? [`${counted(repaired, 'gap')} repaired${limit}`] : [];
  return [begin(intervals, summary, now), ...missing, ...fetched].join('; ');
}

function begin(
  intervals: readonly Interval[],
  { coveredSince, coveredThroughout, repaired }: Summary,
  now: Date,
): string {
  const last = intervals.at(-1)?.state;
  if (last === 'starting') return 'Starting: the platform may not apply the rule yet';
  if (coveredSince === null)
    return last === 'not_watched'
      ? 'Not active at the end of this period'
      : 'Disconnected at the end of this period';
  const coverage = repaired > 0 ? 'Covered' : 'Covered without a gap';
  return coveredThroughout
    ? coverage
    : `${coverage} since ${formatTime(new Date(coveredSince).toISOString(), now)}`;
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

function lowered(words: string): string {
  return words.charAt(0).toLowerCase() + words.slice(1);
}
