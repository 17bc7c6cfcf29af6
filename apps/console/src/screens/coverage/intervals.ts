import type { Answers } from '@earshot/sdk';

export type Interval = Answers['GetCoverage']['intervals'][number];

/** Milliseconds since 1970. */
export interface Window {
  readonly from: number;
  readonly to: number;
}

/** A part of a strip. `start` and `width` are fractions of the strip's width. */
export interface Segment {
  readonly interval: Interval;
  readonly start: number;
  readonly width: number;
}

/** The minimum width of a gap: without it, a gap of 1 s in a month would be narrower than a pixel. */
const shareMin = 0.005;

/** Gaps are painted last, so that they are on top. */
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
    .map((segment) => (isOutage(segment.interval) ? widened(segment) : segment))
    .toSorted((a, b) => paintOrder.indexOf(a.interval.state) - paintOrder.indexOf(b.interval.state));
}

function widened(segment: Segment): Segment {
  const width = Math.max(segment.width, shareMin);
  return { ...segment, width, start: Math.min(segment.start, 1 - width) };
}

/** Whether the interval is a gap, repaired or not. */
export function isOutage({ state }: Interval): boolean {
  return state === 'gap' || state === 'repaired';
}

/** The end of the interval; an ongoing interval ends at `now`. */
export function endOf({ to }: Interval, now: number): number {
  return to === null ? now : Date.parse(to);
}

export interface Summary {
  /** The covered fraction of the time in which a rule was active, including repaired gaps; null if none was active. */
  readonly covered: number | null;
  readonly missingMs: number;
  readonly gaps: number;
  readonly repaired: number;
  /** When the uninterrupted coverage at the end began; null if the end is not covered. */
  readonly coveredSince: number | null;
  /** Whether `coveredSince` is the start of the window. The coverage may have begun earlier. */
  readonly coveredThroughout: boolean;
  /** The ongoing gap. */
  readonly open: Interval | null;
}

/** Summarises the intervals of one platform, which must be in chronological order. */
export function summarise(intervals: readonly Interval[], { from, to }: Window): Summary {
  const lengthOf = (interval: Interval) =>
    Math.max(0, Math.min(to, endOf(interval, to)) - Math.max(from, Date.parse(interval.from)));
  const sum = (some: readonly Interval[]) => some.reduce((total, one) => total + lengthOf(one), 0);
  const gaps = intervals.filter(({ state }) => state === 'gap');
  const missingMs = sum(gaps);
  const coveredMs = sum(intervals.filter(isCovered));
  const first = firstOfLastRun(intervals);
  const coveredSince = first === null ? null : Math.max(from, Date.parse(first.from));
  const last = intervals.at(-1);
  return {
    covered: coveredMs + missingMs === 0 ? null : coveredMs / (coveredMs + missingMs),
    missingMs,
    gaps: gaps.length,
    repaired: intervals.length === 0 ? 0 : intervals.filter(({ state }) => state === 'repaired').length,
    coveredSince,
    coveredThroughout: coveredSince === from,
    open: last?.state === 'gap' && last.to === null ? last : null,
  };
}

function isCovered({ state }: Interval): boolean {
  return state === 'live' || state === 'repaired';
}

/** The first interval of the uninterrupted coverage at the end. */
function firstOfLastRun(intervals: readonly Interval[]): Interval | null {
  const before = intervals.findLastIndex((interval) => !isCovered(interval));
  return intervals[before + 1] ?? null;
}
