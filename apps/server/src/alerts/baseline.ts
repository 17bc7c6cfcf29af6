/*
 * What is usual for a rule on a platform: matches per hour of the week. Counts are divided by the covered time, so a gap makes nothing
 * look quiet. The variance comes from the same weeks, because items arrive in bursts and a Poisson distribution would alarm all day.
 */

export const bucketMs = 15 * 60_000;
export const bucketsPerHour = 4;
const hoursPerWeek = 168;
const bucketsPerWeek = hoursPerWeek * bucketsPerHour;
const historyBuckets = 4 * bucketsPerWeek;
export const historyMs = historyBuckets * bucketMs;
/** A baseline ends at such an hour, so that a rise does not become usual while it lasts. */
const renewedEvery = 6 * bucketsPerHour;

/** Consecutive periods of 15 minutes. */
export interface Series {
  /** When the first one begins, in Unix milliseconds. */
  readonly fromMs: number;
  readonly counts: ArrayLike<number>;
  /** The share of each that the ledger covers, from 0 to 1. */
  readonly covered: ArrayLike<number>;
}

export interface Baseline {
  /** Usual matches per covered hour, by hour of the week. */
  readonly perHour: ArrayLike<number>;
  /** How uncertain each of these is, as a relative variance. */
  readonly uncertainty: ArrayLike<number>;
  /** False in the first week: drops are judged by whole days. */
  readonly isSeasonal: boolean;
  /** The relative variance of the rate of 15 minutes, of an hour and of 6 hours: bursts even out. */
  readonly dispersion: Dispersion;
}

interface Dispersion {
  readonly quarter: number;
  readonly hour: number;
  readonly sixHours: number;
}

/** With less of a period covered, its count is no evidence. */
const coveredMin = 0.5;
/** Covered hours before anything is usual: one of each hour of the day. */
const firstHours = 24;
const weekHours = 0.9 * hoursPerWeek;
/** The weight of the level of the last week, in hours. */
const shrinkage = 1;
/** The dispersion before there is evidence, and its weight. It is that of three independent bursts in 15 minutes. */
const prior = { dispersion: 1 / 3, weight: 50 };
/** While an hour of the week is unknown, the usual swing of a day is part of the variance. */
const unknownSeason = 0.6;
/** A single week, counted by the platform, which ignores some operators. */
const countedUncertainty = 0.3;

/** The hour of the week (UTC) of each period of a series. */
function createHourOf({ fromMs }: Series): (at: number) => number {
  const first = Math.floor(fromMs / bucketMs);
  return (at) => Math.floor((first + at) / bucketsPerHour) % hoursPerWeek;
}

/** The end of the baseline with which a period is judged. */
export function baselineEnd({ fromMs }: Series, at: number): number {
  return at - ((Math.floor(fromMs / bucketMs) + at) % renewedEvery);
}

/** What the platform itself counted for the query, per hour, before the rule had it. */
export interface CountedWeek {
  readonly fromMs: number;
  readonly counts: readonly number[];
}

/**
 * What is usual, from the four weeks before the period `end`. In the first week from the platform's counts, if there are any. Null if less
 * than a day is known.
 */
export function baselineOf(series: Series, end: number, counted: CountedWeek | null = null): Baseline | null {
  const from = Math.max(0, end - historyBuckets);
  const hourOf = createHourOf(series);
  const counts = new Float64Array(hoursPerWeek);
  const hours = new Float64Array(hoursPerWeek);
  const last = { count: 0, hours: 0 };
  let covered = 0;
  for (let at = from; at < end; at++) {
    const share = series.covered[at] ?? 0;
    if (share < coveredMin) continue;
    const [hour, count] = [hourOf(at), series.counts[at] ?? 0];
    counts[hour] = (counts[hour] ?? 0) + count;
    hours[hour] = (hours[hour] ?? 0) + share / bucketsPerHour;
    covered += share / bucketsPerHour;
    if (at < end - bucketsPerWeek) continue;
    last.count += count;
    last.hours += share / bucketsPerHour;
  }
  const isSeasonal = end - from >= bucketsPerWeek && covered >= weekHours;
  if (!isSeasonal && counted && counted.counts.length >= hoursPerWeek)
    return countedBaseline(series, { from, end }, counted);
  if (covered < firstHours || last.hours === 0) return null;
  const level = last.count / last.hours;
  const perHour = new Float64Array(hoursPerWeek).fill(level);
  const seen = new Float64Array(hoursPerWeek).fill(last.hours);
  if (isSeasonal)
    for (let hour = 0; hour < hoursPerWeek; hour++) {
      const around = [(hour + hoursPerWeek - 1) % hoursPerWeek, hour, (hour + 1) % hoursPerWeek];
      const count = around.reduce((sum, one) => sum + (counts[one] ?? 0), 0);
      const time = around.reduce((sum, one) => sum + (hours[one] ?? 0), 0) + shrinkage;
      perHour[hour] = (count + shrinkage * level) / time;
      seen[hour] = time;
    }
  const dispersion = dispersionsOf(series, perHour, from, end);
  const uncertainty = perHour.map((rate, hour) => {
    const time = seen[hour] ?? 1;
    const season = isSeasonal && time > shrinkage ? 0 : unknownSeason;
    return season + 1 / Math.max(1, rate * time) + dispersion.hour / time;
  });
  return { perHour, uncertainty, isSeasonal, dispersion };
}

/** An earlier spike counts as a small one: otherwise it would hide the next. */
const clippedAt = (expected: number) => 3 * expected + 3;

/** The platform may count more than the rule matches: after a day, the counts show only how the hours of the week differ. */
function countedBaseline(
  series: Series,
  { from, end }: Omit<Windows, 'length'>,
  { fromMs, counts }: CountedWeek,
): Baseline {
  const first = Math.floor(fromMs / (bucketsPerHour * bucketMs)) + counts.length - hoursPerWeek;
  const week = new Float64Array(hoursPerWeek);
  for (const [nth, count] of counts.slice(-hoursPerWeek).entries())
    week[(first + nth) % hoursPerWeek] = count;
  const smooth = week.map((_, hour) => {
    const around = [(hour + hoursPerWeek - 1) % hoursPerWeek, hour, (hour + 1) % hoursPerWeek];
    return around.reduce((sum, one) => sum + (week[one] ?? 0), 0) / around.length;
  });
  const own = sumOf(series, { perHour: smooth, uncertainty: [] }, from, Math.max(0, end - from));
  const isMeasured = own.covered >= firstHours * bucketsPerHour && own.expected > 0;
  const perHour = smooth.map((rate) => (isMeasured ? (rate * own.count) / own.expected : rate));
  const uncertainty = perHour.map((rate) => countedUncertainty + 1 / Math.max(1, 3 * rate));
  const dispersion = dispersionsOf(series, perHour, from, end);
  return { perHour, uncertainty, isSeasonal: false, dispersion };
}

interface Windows {
  readonly from: number;
  readonly end: number;
  /** In periods. */
  readonly length: number;
}

function dispersionsOf(series: Series, perHour: Baseline['perHour'], from: number, end: number): Dispersion {
  const of = (length: number) => dispersionOf(series, perHour, { from, end, length });
  return { quarter: of(1), hour: of(bucketsPerHour), sixHours: of(6 * bucketsPerHour) };
}

/** By the method of moments: what the variance is above that of a Poisson distribution. */
function dispersionOf(series: Series, perHour: Baseline['perHour'], { from, end, length }: Windows): number {
  let excess = prior.dispersion * prior.weight;
  let squares = prior.weight;
  for (let at = from; at + length <= end; at += length) {
    const { count, expected, covered } = sumOf(series, { perHour, uncertainty: [] }, at, length);
    if (covered < length * 0.9) continue;
    excess += (Math.min(count, clippedAt(expected)) - expected) ** 2 - expected;
    squares += expected * expected;
  }
  return Math.max(0, excess / squares);
}

export interface WindowSum {
  readonly count: number;
  readonly expected: number;
  /** Of `expected`, as a relative variance: the mean of its hours. */
  readonly uncertainty: number;
  /** In periods. */
  readonly covered: number;
}

/** What a window has, and what would be usual in its covered time. */
export function sumOf(
  series: Series,
  { perHour, uncertainty }: Pick<Baseline, 'perHour' | 'uncertainty'>,
  from: number,
  length: number,
): WindowSum {
  const hourOf = createHourOf(series);
  let [count, expected, covered, uncertain] = [0, 0, 0, 0];
  for (let at = from; at < from + length; at++) {
    const share = series.covered[at] ?? 0;
    if (share < coveredMin) continue;
    count += series.counts[at] ?? 0;
    const usual = (share * (perHour[hourOf(at)] ?? 0)) / bucketsPerHour;
    expected += usual;
    uncertain += usual * (uncertainty[hourOf(at)] ?? 0);
    covered += share;
  }
  return { count, expected, covered, uncertainty: expected > 0 ? uncertain / expected : 0 };
}
