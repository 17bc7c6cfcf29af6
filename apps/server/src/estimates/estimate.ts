/** Matches per hour, without missing hours; the last hour is complete. */
export interface HourlySeries {
  /** When the first hour began, in milliseconds. */
  readonly fromMs: number;
  readonly counts: readonly number[];
  /** The number of matches that each counted match stands for, if only a random sample was evaluated. */
  readonly scale?: number;
}

/** Matches per day. */
export interface Volume {
  readonly average: number;
  /** Null if fewer than two whole days are covered. */
  readonly busiest: number | null;
  /** The number of whole days that are covered. If it is 0, the average is scaled up from a part of a day. */
  readonly days: number;
  readonly busiestHour: { readonly startsAtMs: number; readonly matches: number } | null;
}

const hourMs = 3_600_000;
const dayHours = 24;
const dayMs = dayHours * hourMs;

/** Days are counted back from the end of the series. */
export function volumeOf({ fromMs, counts, scale = 1 }: HourlySeries): Volume {
  const days = wholeDays(counts).map((day) => day * scale);
  const average =
    days.length === 0
      ? (sum(counts) * scale * dayHours) / Math.max(1, counts.length)
      : sum(days) / days.length;
  const busiest = counts.reduce((best, count, hour) => (count > (counts[best] ?? 0) ? hour : best), 0);
  const matches = counts[busiest] ?? 0;
  return {
    average,
    busiest: days.length < 2 ? null : Math.max(...days),
    days: days.length,
    // With a sample, the highest count may be the hour of which most was evaluated.
    busiestHour:
      matches === 0 || scale > 1
        ? null
        : { startsAtMs: fromMs + busiest * hourMs, matches: Math.round(matches) },
  };
}

/** If this many matches are expected, there is none in one of twenty cases. */
const noneMeansAtMost = 3;

/** Computed from the matches in a part of a day. Without a match, the average is an upper bound. */
export function volumeOfTrial(matches: number, coveredMs: number): Volume {
  const average = (matches === 0 ? noneMeansAtMost : matches) / (coveredMs / dayMs);
  return { average, busiest: null, days: 0, busiestHour: null };
}

/** Groups times into complete hours. Times before the first one are left out. */
export function seriesOf(times: readonly Date[], fromMs: number, untilMs: number): HourlySeries {
  const first = Math.ceil(fromMs / hourMs);
  const hours = Math.max(1, Math.floor(untilMs / hourMs) - first);
  const counts = Array.from({ length: hours }, () => 0);
  for (const time of times) {
    const hour = Math.floor(time.getTime() / hourMs) - first;
    const count = counts[hour];
    if (count !== undefined) counts[hour] = count + 1;
  }
  return { fromMs: first * hourMs, counts };
}

function wholeDays(counts: readonly number[]): number[] {
  return Array.from({ length: Math.floor(counts.length / dayHours) }, (_, day) => {
    const end = counts.length - day * dayHours;
    return sum(counts.slice(end - dayHours, end));
  });
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
