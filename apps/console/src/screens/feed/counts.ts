import { formatTime } from '../../parts/format.ts';

/** The time range of the histogram and the width of its bars. */
export interface Division {
  readonly from: string;
  readonly to: string;
  readonly stepSeconds: number;
}

const barsMax = 120;
const stepsSeconds = [10, 60, 300, 900, 3_600, 21_600, 86_400];
const defaultSpanMs = 24 * 3_600_000;

/** Extends the range to whole steps. Without a range, the last day is used. */
export function divide(range: { from?: string | undefined; to?: string | undefined }, now: Date): Division {
  const to = range.to === undefined ? now.getTime() : Date.parse(range.to);
  const from = range.from === undefined ? to - defaultSpanMs : Date.parse(range.from);
  const span = Math.max(1_000, to - from);
  const fitting = stepsSeconds.find((step) => span / (step * 1_000) <= barsMax);
  const stepSeconds = fitting ?? 86_400 * Math.ceil(span / 86_400_000 / barsMax);
  const stepMs = stepSeconds * 1_000;
  const begin = Math.floor(from / stepMs) * stepMs;
  const end = Math.max(begin + stepMs, Math.ceil(to / stepMs) * stepMs);
  return { from: new Date(begin).toISOString(), to: new Date(end).toISOString(), stepSeconds };
}

/** Such as `from 10:00:00 AM to 11:00:00 AM`. The last bar may end in the future, for which nothing is counted. */
export function divisionWords({ from, to }: Division, now: Date): string {
  const start = formatTime(from, now);
  return Date.parse(to) > now.getTime() ? `since ${start}` : `from ${start} to ${formatTime(to, now)}`;
}

/** The least height between two labels of the vertical axis. */
export const axisSpacePx = 28;

/** The distances between labels, close enough to each other that every chart has a label above 0. */
export const axisSteps: readonly number[] = [1, 10, 100, 1_000, 10_000, 100_000].flatMap((unit) =>
  [1, 2, 3, 5].map((digit) => digit * unit),
);
