import { formatDuration } from '../../parts/duration.ts';
import { formatTime } from '../../parts/format.ts';
import type { Interval, Summary } from './intervals.ts';
import { reasonWords } from './words.ts';

/** What one line of time says, for those who cannot see it and for those who would rather read. */
export function laneWords(intervals: readonly Interval[], summary: Summary, now: Date): string {
  const { covered, gaps, repaired, missingMs, open } = summary;
  if (open) return `Not heard since ${formatTime(open.from, now)}: ${lowered(reasonWords(open.reason))}`;
  if (covered === null)
    return intervals.at(-1)?.state === 'starting'
      ? 'Starting: the platform takes a while to apply a new rule'
      : 'Not watched in this time';
  const missing = gaps > 0 ? [`${counted(gaps, 'gap')}, ${formatDuration(missingMs)} missing`] : [];
  const fetched = repaired > 0 ? [`${counted(repaired, 'gap')} fetched`] : [];
  return [begin(summary, now), ...missing, ...fetched].join('; ');
}

function begin({ heardSince, heardThroughout, repaired }: Summary, now: Date): string {
  if (heardSince === null) return 'Not heard at the end';
  const heard = repaired > 0 ? 'Complete' : 'Heard without a gap';
  return heardThroughout ? heard : `${heard} since ${formatTime(new Date(heardSince).toISOString(), now)}`;
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

function lowered(words: string): string {
  return words.charAt(0).toLowerCase() + words.slice(1);
}
