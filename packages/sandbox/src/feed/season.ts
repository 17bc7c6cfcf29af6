import { hashOf } from '../hash.ts';
import { createRandom } from '../random.ts';
import { allTopics, type Topic } from './topics.ts';

/** How the rate of a feed changes with the time of day, with the day of the week, and when something happens. */
export interface Season {
  /** How far the busiest and the quietest hour are from the mean of the day: 0 is flat, 1 stops in the quietest. */
  readonly daySwing: number;
  /** The busiest hour, in UTC. */
  readonly peakHour: number;
  /** The rate of Saturday and Sunday for each item of a weekday. */
  readonly weekendShare: number;
  readonly burstsPerDay: number;
  /** A burst has this many times the items; those above the usual rate are all about one topic. */
  readonly burstFactor: number;
  readonly burstMinutes: number;
}

export const flatSeason: Season = {
  daySwing: 0,
  peakHour: 15,
  weekendShare: 1,
  burstsPerDay: 0,
  burstFactor: 1,
  burstMinutes: 0,
};

export const usualSeason: Season = {
  daySwing: 0.5,
  peakHour: 15,
  weekendShare: 0.7,
  burstsPerDay: 1,
  burstFactor: 6,
  burstMinutes: 20,
};

export interface Burst {
  readonly startMs: number;
  readonly endMs: number;
  readonly topic: Topic;
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** The rate at this time for each item of the mean weekday, without bursts. */
export function levelAt({ daySwing, peakHour, weekendShare }: Season, atMs: number): number {
  const at = new Date(atMs);
  const hours = at.getUTCHours() + at.getUTCMinutes() / 60;
  const day = 1 + daySwing * Math.cos(((hours - peakHour) / 24) * 2 * Math.PI);
  const isWeekend = at.getUTCDay() === 0 || at.getUTCDay() === 6;
  return day * (isWeekend ? weekendShare : 1);
}

/** The burst that goes on at this time; of two, the younger. */
export function burstAt(season: Season, seed: number, atMs: number): Burst | undefined {
  const earliest = Math.floor((atMs - season.burstMinutes * minuteMs) / hourMs);
  for (let hour = Math.floor(atMs / hourMs); hour >= earliest; hour -= 1) {
    const burst = burstOf(season, seed, hour);
    if (burst !== undefined && burst.startMs <= atMs && atMs < burst.endMs) return burst;
  }
  return undefined;
}

/** Follows from the hour and the seed alone, so that a live feed and a run over the past have the same bursts. */
function burstOf({ burstsPerDay, burstMinutes }: Season, seed: number, hour: number): Burst | undefined {
  const random = createRandom(hashOf(`${seed}:${hour}`));
  if (!random.chance(burstsPerDay / 24)) return undefined;
  const startMs = hour * hourMs + random.integer(0, 59) * minuteMs;
  return { startMs, endMs: startMs + burstMinutes * minuteMs, topic: random.pick(allTopics) };
}
