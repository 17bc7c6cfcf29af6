import type { Answers } from '@earshot/sdk';

export type Interval = Answers['GetCoverage']['intervals'][number];

/** Milliseconds since 1970. */
export interface Window {
  readonly from: number;
  readonly to: number;
}

/** A part of a strip, as shares of its width. */
export interface Segment {
  readonly interval: Interval;
  readonly start: number;
  readonly width: number;
}

/** A gap of a second in a month would be narrower than a pixel, and it is what people look for. */
const shareMin = 0.005;

/** What was heard comes first, so that what was not is painted over it. */
const paintOrder: readonly Interval['state'][] = ['not_watched', 'live', 'starting', 'repaired', 'gap'];

export function segmentsOf(intervals: readonly Interval[], { from, to }: Window): Segment[] {
  const length = to - from;
  if (length <= 0) return [];
  return intervals
    .map((interval) => {
      const start = Math.max(from, Date.parse(interval.from));
      const end = Math.min(to, endOf(interval, to));
      return { interval, start: (start - from) / length, width: (end - start) / length };
    })
    .filter(({ width }) => width > 0)
    .map((segment) => (isNews(segment.interval) ? widened(segment) : segment))
    .toSorted((a, b) => paintOrder.indexOf(a.interval.state) - paintOrder.indexOf(b.interval.state));
}

function widened(segment: Segment): Segment {
  const width = Math.max(segment.width, shareMin);
  return { ...segment, width, start: Math.min(segment.start, 1 - width) };
}

/** Worth a line in a table: everything that is neither live nor simply not wanted. */
export function isNews({ state }: Interval): boolean {
  return state === 'gap' || state === 'repaired';
}

/** An interval that lasts ends where the window does. */
export function endOf({ to }: Interval, now: number): number {
  return to === null ? now : Date.parse(to);
}

export interface Summary {
  /** Part of the time in which the rule was to be heard and was, or what was missed was fetched; null: never to be heard. */
  readonly covered: number | null;
  readonly missingMs: number;
  readonly gaps: number;
  readonly repaired: number;
  /** Since when there is no gap up to the end of what is known; null when it ends with something else. */
  readonly heardSince: number | null;
  /** That is the beginning of the window: it may have been longer. */
  readonly heardThroughout: boolean;
  /** The gap that lasts. */
  readonly open: Interval | null;
}

/** Of the intervals of one platform, in order of time. */
export function summarise(intervals: readonly Interval[], { from, to }: Window): Summary {
  const lengthOf = (interval: Interval) =>
    Math.max(0, Math.min(to, endOf(interval, to)) - Math.max(from, Date.parse(interval.from)));
  const sum = (some: readonly Interval[]) => some.reduce((total, one) => total + lengthOf(one), 0);
  const gaps = intervals.filter(({ state }) => state === 'gap');
  const heard = intervals.filter(isHeard);
  const missingMs = sum(gaps);
  const heardMs = sum(heard);
  const first = firstOfLastRun(intervals);
  const heardSince = first === null ? null : Math.max(from, Date.parse(first.from));
  const last = intervals.at(-1);
  return {
    covered: heardMs + missingMs === 0 ? null : heardMs / (heardMs + missingMs),
    missingMs,
    gaps: gaps.length,
    repaired: intervals.length === 0 ? 0 : intervals.filter(({ state }) => state === 'repaired').length,
    heardSince,
    heardThroughout: heardSince === from,
    open: last?.state === 'gap' && last.to === null ? last : null,
  };
}

function isHeard({ state }: Interval): boolean {
  return state === 'live' || state === 'repaired';
}

/** The first interval of those at the end that were all heard. */
function firstOfLastRun(intervals: readonly Interval[]): Interval | null {
  const before = intervals.findLastIndex((interval) => !isHeard(interval));
  return intervals[before + 1] ?? null;
}
