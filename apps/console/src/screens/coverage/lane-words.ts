import { formatDuration } from '../../parts/duration.ts';
import { formatTime } from '../../parts/format.ts';
import type { Interval, Summary } from './intervals.ts';
import { reasonWords } from './words.ts';

/** Describes a timeline in words. */
export function laneWords(intervals: readonly Interval[], summary: Summary, now: Date): string {
  const { covered, gaps, repaired, missingMs, open } = summary;
  if (open) return `Disconnected since ${formatTime(open.from, now)}: ${lowered(reasonWords(open.reason))}`;
  if (covered === null)
    return intervals.at(-1)?.state === 'starting'
      ? 'Starting: the platform does not apply the new rule yet'
      : 'Not active in this period';
  const missing = gaps > 0 ? [`${counted(gaps, 'gap')}, ${formatDuration(missingMs)} missing`] : [];
  const fetched = repaired > 0 ? [`${counted(repaired, 'gap')} repaired`] : [];
  return [begin(intervals, summary, now), ...missing, ...fetched].join('; ');
}

function begin(
  intervals: readonly Interval[],
  { coveredSince, coveredThroughout, repaired }: Summary,
  now: Date,
): string {
  if (coveredSince === null)
    return intervals.at(-1)?.state === 'not_watched'
      ? 'Not active at the end of this period'
      : 'Disconnected at the end of this period';
  const coverage = repaired > 0 ? 'Complete' : 'Covered without a gap';
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
