import type { AlertSensitivity } from '@earshot/contract';
import { advance, initialState } from '../src/alerts/alert-state.ts';
import { type Baseline, baselineEnd, baselineOf, bucketMs, bucketsPerHour } from '../src/alerts/baseline.ts';
import { judge } from '../src/alerts/detect.ts';

/*
 * Rules with a daily and a weekly season, Poisson or in bursts, with outages, silences and events of five times the usual rate. Judged
 * every 15 minutes, as the worker does.
 */

export interface Simulated {
  readonly seed: number;
  readonly rules: number;
  readonly weeks: number;
  readonly perHour: number;
  readonly isBursty: boolean;
  readonly sensitivity: AlertSensitivity;
  /** False: the control, which takes every period as covered and counts items when they are stored. */
  readonly withExposure?: boolean;
  /** True: a detector that knows the rate of each hour and how it varies, which no detector can beat. */
  readonly knowsTruth?: boolean;
}

export interface Figures {
  /** Alarms outside of events and silences, per rule and week. */
  readonly falseSpikes: number;
  readonly falseDrops: number;
  /** Shares of the events found within an hour, and of the silences found within their time. */
  readonly found: number;
  readonly foundSilences: number;
}

const week = 7 * 24 * bucketsPerHour;
const warmWeeks = 2;
const eventLength = 2 * bucketsPerHour;
const silenceLength = 26 * bucketsPerHour;

/** Mulberry32. */
function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

type Random = () => number;

function normal(random: Random): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

function poisson(random: Random, mean: number): number {
  if (mean > 60) return Math.max(0, Math.round(mean + Math.sqrt(mean) * normal(random)));
  let [count, product] = [0, random()];
  for (const limit = Math.exp(-mean); product > limit; count++) product *= random();
  return count;
}

/** The shape is 3: the sum of three exponential times. */
const gamma3 = (random: Random) => -Math.log((1 - random()) * (1 - random()) * (1 - random())) / 3;

/** The mean of the season is 1. */
function season(at: number): number {
  const hour = (at / bucketsPerHour) % 24;
  const day = Math.floor(at / (24 * bucketsPerHour)) % 7;
  const weekly = day < 5 ? 1 : 0.6;
  return ((1 + 0.8 * Math.sin((2 * Math.PI * hour) / 24)) * weekly * 7) / 6.2;
}

interface Rule {
  readonly counts: Float64Array;
  readonly covered: Float64Array;
  readonly events: number[];
  readonly silences: number[];
  /** At a period, a gap is repaired: its items are stored. */
  readonly repairs: Map<
    number,
    { readonly from: number; readonly to: number; readonly missed: Float64Array }
  >;
}

function createRule({ weeks, perHour, isBursty, withExposure = true }: Simulated, random: Random): Rule {
  const length = weeks * week;
  const counts = new Float64Array(length);
  const covered = new Float64Array(length).fill(1);
  const events: number[] = [];
  const silences: number[] = [];
  const repairs: Rule['repairs'] = new Map();
  const below = (limit: number) => Math.floor(random() * limit);
  for (let nth = warmWeeks; nth < weeks; nth++) events.push(nth * week + below(week / 2 - 2 * eventLength));
  // One silence, in the last week, far from its event.
  silences.push((weeks - 1) * week + week / 2 + 10 * bucketsPerHour + below(24));
  const isIn = (starts: readonly number[], size: number, at: number) =>
    starts.some((start) => at >= start && at < start + size);
  for (let at = 0; at < length; at++) {
    const times = isIn(events, eventLength, at) ? 5 : isIn(silences, silenceLength, at) ? 0 : 1;
    const mean = (perHour / bucketsPerHour) * season(at) * times;
    counts[at] = poisson(random, isBursty ? mean * gamma3(random) : mean);
  }
  // Two outages a week, of 30 minutes to 8 hours, away from events. The platform replays one of them two hours later.
  for (let nth = 1; nth < weeks; nth++)
    for (const [index, isRepaired] of [true, false].entries()) {
      const from = Math.floor(nth * week + week * (0.55 + 0.25 * index) + below(24));
      const to = from + 2 + below(30);
      if (silences.some((start) => from < start + silenceLength + 96 && to > start - 96)) continue;
      const missed = counts.slice(from, to);
      counts.fill(0, from, to);
      if (withExposure) covered.fill(0, from, to);
      if (isRepaired) repairs.set(to + 2 * bucketsPerHour, { from, to, missed });
    }
  return { counts, covered, events, silences, repairs };
}

export function simulate(options: Simulated): Figures {
  const random = createRandom(options.seed);
  let [falseSpikes, falseDrops, found, events, foundSilences, silences] = [0, 0, 0, 0, 0, 0];
  for (let nth = 0; nth < options.rules; nth++) {
    const rule = createRule(options, random);
    const alarms = alarmsOf(rule, options);
    const isDuring = (starts: readonly number[], size: number, at: number) =>
      starts.some((start) => at >= start && at < start + size + bucketsPerHour);
    const spikes = alarms.filter(({ type }) => type === 'spike').map(({ at }) => at);
    const drops = alarms.filter(({ type }) => type === 'drop').map(({ at }) => at);
    falseSpikes += spikes.filter((at) => !isDuring(rule.events, eventLength, at)).length;
    falseDrops += drops.filter((at) => !isDuring(rule.silences, silenceLength, at)).length;
    events += rule.events.length;
    found += rule.events.filter((start) =>
      spikes.some((at) => at >= start && at < start + bucketsPerHour),
    ).length;
    silences += rule.silences.length;
    foundSilences += rule.silences.filter((start) =>
      drops.some((at) => at >= start && at < start + silenceLength),
    ).length;
  }
  const ruleWeeks = options.rules * options.weeks;
  return {
    falseSpikes: falseSpikes / ruleWeeks,
    falseDrops: falseDrops / ruleWeeks,
    found: found / events,
    foundSilences: foundSilences / silences,
  };
}

function trueBaseline({ perHour, isBursty }: Simulated): Baseline {
  const rates = Array.from({ length: 7 * 24 }, (_, hour) => {
    const quarters = Array.from({ length: bucketsPerHour }, (_, nth) => season(hour * bucketsPerHour + nth));
    return (perHour * quarters.reduce((sum, one) => sum + one, 0)) / bucketsPerHour;
  });
  const dispersion = isBursty
    ? { quarter: 1 / 3, hour: 1 / 12, sixHours: 1 / 72 }
    : { quarter: 0, hour: 0, sixHours: 0 };
  return { perHour: rates, uncertainty: rates.map(() => 0), isSeasonal: true, dispersion };
}

interface Alarm {
  readonly type: 'spike' | 'drop';
  readonly at: number;
}

function alarmsOf({ counts, covered, repairs }: Rule, options: Simulated): Alarm[] {
  const { sensitivity, withExposure = true, knowsTruth = false } = options;
  const series = { fromMs: 0, counts, covered };
  const alarms: Alarm[] = [];
  let state = initialState;
  let baseline = knowsTruth ? trueBaseline(options) : null;
  for (let at = 0; at < counts.length; at++) {
    const repair = repairs.get(at);
    if (repair && withExposure) {
      counts.set(repair.missed, repair.from);
      covered.fill(1, repair.from, repair.to);
    } else if (repair) counts[at] = (counts[at] ?? 0) + repair.missed.reduce((sum, one) => sum + one, 0);
    if (!knowsTruth && baselineEnd(series, at) === at) baseline = baselineOf(series, at);
    if (baseline === null) continue;
    const next = advance(state, judge(series, at, baseline, sensitivity), (at + 1) * bucketMs);
    state = next.state;
    if (next.step?.kind === 'raise') alarms.push({ type: next.step.type, at });
  }
  return alarms;
}
