import type { EventLog } from '../event-log/event-log.ts';
import type { Telemetry } from '../observability/telemetry.ts';

/**
 * How much a stream usually brings, and whether it went quiet: streams were seen that stay up, send their
 * keep-alives and no posts. Counted in minutes of listening; a minute without a stream is no minute.
 */
export interface Volume {
  /** Moving average of items per minute. */
  readonly usual: number;
  /** Minutes that the average was made of, up to `memoryMinutes`; a stored average counts as complete. */
  readonly minutes: number;
  /** Items of the last minutes, the newest last. */
  readonly recent: readonly number[];
  readonly isQuiet: boolean;
}

const windowMinutes = 15;
/** The average's half-life is about an hour and a half: it follows day and night, but not single minutes. */
const memoryMinutes = 120;
/** Below this many expected items a window may be silent by chance. */
const expectedMin = 20;
const quietBelow = 0.1;
const loudAbove = 0.3;
/** A minute of replay after an outage brings hours of items: no more of it counts than this many usual minutes. */
const burstMax = 10;

export function newVolume(usual: number | null): Volume {
  return { usual: usual ?? 0, minutes: usual === null ? 0 : memoryMinutes, recent: [], isQuiet: false };
}

export function afterMinute(volume: Volume, items: number): Volume {
  const isKnown = volume.minutes >= windowMinutes;
  const counted = isKnown ? Math.min(items, Math.max(expectedMin, volume.usual * burstMax)) : items;
  const minutes = Math.min(memoryMinutes, volume.minutes + 1);
  const recent = [...volume.recent, items].slice(-windowMinutes);
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

/** Every this many minutes the usual volume is stored for the next holder of the source. */
const keepEveryMinutes = 5;

export interface VolumeWatchOptions {
  readonly sourceId: string;
  readonly eventLog: EventLog;
  readonly telemetry: Telemetry;
  /** What a former holder found usual. */
  readonly usual: number | null;
  readonly keep: (usualPerMinute: number) => Promise<unknown>;
  /** Whether the stream was open for the whole of the last minute. */
  readonly wasOpen: () => boolean;
  readonly minuteMs: number;
}

/** Counts what goes to the log, and reports when an open stream goes quiet. It only reports: a reconnect would not help. */
export function watchVolume(options: VolumeWatchOptions): Disposable & { readonly eventLog: EventLog } {
  const { sourceId, eventLog, telemetry, keep, wasOpen } = options;
  let volume = newVolume(options.usual);
  let heard = 0;
  let minutes = 0;
  const timer = setInterval(() => {
    const count = heard;
    heard = 0;
    if (!wasOpen()) return;
    const before = volume;
    volume = afterMinute(volume, count);
    if (volume.isQuiet !== before.isQuiet) {
      telemetry.sourceQuiet({
        sourceId,
        isQuiet: volume.isQuiet,
        perMinute: volume.recent.reduce((sum, one) => sum + one, 0) / volume.recent.length,
        usualPerMinute: before.usual,
      });
    }
    // When it cannot be stored now, it is stored five minutes later.
    if (++minutes % keepEveryMinutes === 0) keep(volume.usual).catch(() => undefined);
  }, options.minuteMs);
  return {
    eventLog: {
      ...eventLog,
      append(event, consumed, giveUp) {
        heard++;
        return eventLog.append(event, consumed, giveUp);
      },
    },
    [Symbol.dispose]: () => clearInterval(timer),
  };
}
