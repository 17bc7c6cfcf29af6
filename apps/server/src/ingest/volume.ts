/**
 * How much a stream usually brings, and whether it went quiet: streams were seen that stay up, send their
 * keep-alives and no posts. Counted in minutes of listening; a minute without a stream is no minute.
 */
export interface Volume {
  /** Moving average of events per minute. */
  readonly usual: number;
  /** Minutes that the average knows; a stored average knows enough. */
  readonly minutes: number;
  /** Events of the last minutes, the newest last. */
  readonly recent: readonly number[];
  readonly isQuiet: boolean;
}

const windowMinutes = 15;
/** The average forgets half of what it knew in about an hour and a half: days and nights move it, minutes do not. */
const memoryMinutes = 120;
/** Below this many expected events, chance alone can bring a silent window. */
const expectedMin = 20;
const quietBelow = 0.1;
const loudAbove = 0.3;
/** One minute of replay after an outage brings hours of events: no more of it counts than this many usual minutes. */
const burstMax = 10;

export function newVolume(usual: number | null): Volume {
  return { usual: usual ?? 0, minutes: usual === null ? 0 : memoryMinutes, recent: [], isQuiet: false };
}

export function afterMinute(volume: Volume, events: number): Volume {
  const isKnown = volume.minutes >= windowMinutes;
  const counted = isKnown ? Math.min(events, Math.max(expectedMin, volume.usual * burstMax)) : events;
  const minutes = Math.min(memoryMinutes, volume.minutes + 1);
  const recent = [...volume.recent, events].slice(-windowMinutes);
  // Judged by what was usual before this minute.
  const expected = volume.usual * windowMinutes;
  const heard = recent.reduce((sum, one) => sum + one, 0);
  const canTell = isKnown && expected >= expectedMin && recent.length === windowMinutes;
  const limit = volume.isQuiet ? loudAbove : quietBelow;
  return {
    usual: volume.usual + (counted - volume.usual) / minutes,
    minutes,
    recent,
    isQuiet: canTell && heard < expected * limit,
  };
}
