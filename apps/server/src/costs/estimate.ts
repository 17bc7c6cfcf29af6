/** How many matches came in each hour, without a hole; the last one is complete. */
export interface HourlySeries {
  /** When the first hour began, in milliseconds. */
  readonly fromMs: number;
  readonly counts: readonly number[];
  /** Each of the counted matches stands for so many, because only a random part was looked at. */
  readonly scale?: number;
}

export interface Volume {
  readonly mean: number;
  readonly p50: number;
  readonly p90: number;
  readonly busiestHour: { readonly startsAtMs: number; readonly matches: number } | null;
}

const hourMs = 3_600_000;
const dayHours = 24;
const dayMs = dayHours * hourMs;
/** Of the normal distribution. */
const z90 = 1.281_552;

/**
 * What a day brings, from the days of the series, counted back from its end. Matches come in bursts, so days differ more than
 * chance alone makes them: a negative binomial distribution then has the variance that was seen, and a Poisson distribution
 * where it is no larger than that of chance. With less than two days only the mean is known, and with less than one it is
 * scaled up.
 */
export function volumeOf({ fromMs, counts, scale = 1 }: HourlySeries): Volume {
  const days = daysOf(counts).map((day) => day * scale);
  const mean = sum(days) / days.length;
  const seen = days.length < 2 ? mean : sum(days.map((day) => (day - mean) ** 2)) / (days.length - 1);
  // Looking at a part only makes days differ, too.
  const variance = seen - (scale - 1) * mean;
  // The mean itself is known from so many days only.
  const spread = variance <= mean ? mean : variance * (1 + 1 / days.length);
  const quantile = (z: number, p: number) => countQuantile({ mean, variance: spread }, z, p);
  const busiest = counts.reduce((best, count, hour) => (count > (counts[best] ?? 0) ? hour : best), 0);
  const matches = counts[busiest] ?? 0;
  return {
    mean,
    p50: quantile(0, 0.5),
    p90: quantile(z90, 0.9),
    // The hour of which most was looked at is not the busiest.
    busiestHour:
      matches === 0 || scale > 1
        ? null
        : { startsAtMs: fromMs + busiest * hourMs, matches: Math.round(matches) },
  };
}

/** Where so many are to be expected, none at all comes in one of twenty cases. */
const noneMeansAtMost = 3;

/**
 * What a day brings, from so many matches in a part of one: that the rate is known from these only adds to what chance makes of a
 * day. Without a match it is a bound.
 */
export function volumeOfTrial(matches: number, heardMs: number): Volume {
  const days = heardMs / dayMs;
  const mean = (matches === 0 ? noneMeansAtMost : matches) / days;
  const p50 = Math.round(mean);
  const variance = mean * (1 + 1 / days);
  return {
    mean,
    p50,
    p90: matches === 0 ? p50 : countQuantile({ mean, variance }, z90, 0.9),
    busiestHour: null,
  };
}

/** From times to complete hours; what is before the first one is left out. */
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

function daysOf(counts: readonly number[]): number[] {
  const whole = Math.floor(counts.length / dayHours);
  if (whole === 0) return [(sum(counts) * dayHours) / Math.max(1, counts.length)];
  return Array.from({ length: whole }, (_, day) => {
    const end = counts.length - day * dayHours;
    return sum(counts.slice(end - dayHours, end));
  });
}

const summedUpTo = 500;

/** The smallest count that a day does not exceed with this probability. `z` is the same quantile of the normal distribution. */
function countQuantile(
  { mean, variance }: { mean: number; variance: number },
  z: number,
  probability: number,
): number {
  if (mean <= 0) return 0;
  const size = variance > mean ? mean ** 2 / (variance - mean) : Number.POSITIVE_INFINITY;
  if (mean > summedUpTo) return Math.round(gammaQuantile(mean, variance, z));
  let chance = size === Number.POSITIVE_INFINITY ? Math.exp(-mean) : (size / (size + mean)) ** size;
  let below = chance;
  for (let count = 0; ; count++) {
    if (below >= probability || count > summedUpTo * 100) return count;
    const growth = size === Number.POSITIVE_INFINITY ? mean : ((count + size) * mean) / (size + mean);
    chance *= growth / (count + 1);
    below += chance;
  }
}

/** Wilson and Hilferty: the cube root of a gamma distributed number is nearly normal. Good for large counts. */
function gammaQuantile(mean: number, variance: number, z: number): number {
  const shape = mean ** 2 / variance;
  return mean * Math.max(0, 1 - 1 / (9 * shape) + z / (3 * Math.sqrt(shape))) ** 3;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
