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

/** Days are counted back from the end of the series. The busiest hour is one of these days, so no day is below it. */
export function volumeOf({ fromMs, counts, scale = 1 }: HourlySeries): Volume {
  const days = wholeDays(counts).map((day) => day * scale);
  const average =
    days.length === 0
      ? (sum(counts) * scale * dayHours) / Math.max(1, counts.length)
      : sum(days) / days.length;
  const first = days.length === 0 ? 0 : counts.length - days.length * dayHours;
  const counted = counts.slice(first);
  const busiest = counted.reduce((best, count, hour) => (count > (counted[best] ?? 0) ? hour : best), 0);
  const matches = Math.floor(counted[busiest] ?? 0);
  return {
    average,
    busiest: days.length < 2 ? null : Math.max(...days),
    days: days.length,
    // With a sample, the highest count may be the hour of which most was evaluated.
    busiestHour:
      matches === 0 || scale > 1 ? null : { startsAtMs: fromMs + (first + busiest) * hourMs, matches },
  };
}

/** Matches that were counted in the last 24 hours. */
export interface SeenMatches {
  readonly lastDay: number;
  readonly lastHour: number;
  /** How long ago the first of them arrived. */
  readonly firstAgoMs: number;
}

export const noneSeen: SeenMatches = { lastDay: 0, lastHour: 0, firstAgoMs: 0 };

export function seenMatches(times: readonly Date[], nowMs: number): SeenMatches {
  const ages = times.map((time) => Math.max(0, nowMs - time.getTime())).filter((age) => age <= dayMs);
  return {
    lastDay: ages.length,
    lastHour: ages.filter((age) => age <= hourMs).length,
    firstAgoMs: ages.reduce((longest, age) => Math.max(longest, age), 0),
  };
}

/** The volume with the hour that was just counted, if it was busier. Null if more was counted in a day than the volume has. */
export function withSeen(volume: Volume, { lastDay, lastHour }: SeenMatches, nowMs: number): Volume | null {
  if (lastDay > (volume.busiest ?? volume.average)) return null;
  const { busiestHour } = volume;
  if (busiestHour === null || lastHour <= busiestHour.matches) return volume;
  return { ...volume, busiestHour: { startsAtMs: nowMs - hourMs, matches: lastHour } };
}

/** If this many matches are expected, there is none in one of twenty cases. */
const noneMeansAtMost = 3;

/** Computed from the matches in a part of a day. Without a match, the average is an upper bound. */
export function volumeOfTrial(matches: number, coveredMs: number): Volume {
  const average = (matches === 0 ? noneMeansAtMost : matches) / (coveredMs / dayMs);
  return { average, busiest: null, days: 0, busiestHour: null };
}

/** Groups times into complete hours that end now, or into one hour. Times before the first one are left out. */
export function seriesOf(times: readonly Date[], fromMs: number, nowMs: number): HourlySeries {
  const hours = Math.max(1, Math.floor((nowMs - fromMs) / hourMs));
  const firstMs = nowMs - hours * hourMs;
  const counts = Array.from({ length: hours }, () => 0);
  for (const time of times) {
    const hour = Math.min(hours - 1, Math.floor((time.getTime() - firstMs) / hourMs));
    const count = counts[hour];
    if (count !== undefined) counts[hour] = count + 1;
  }
  return { fromMs: firstMs, counts };
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
