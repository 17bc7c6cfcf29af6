import type { EventLog } from '../event-log/event-log.ts';
import type { Telemetry } from '../observability/telemetry.ts';
import { repeat } from '../runtime/worker.ts';

/**
 * The usual volume of a stream and whether it went quiet: some streams stay up and send keep-alives but no posts.
 * Only minutes with an open stream count.
 */
export interface Volume {
  /** Moving average of items per minute. */
  readonly usual: number;
  /** Number of minutes in the average, up to `memoryMinutes`; a stored average counts as complete. */
  readonly minutes: number;
  /** Items of the last minutes, newest last. */
  readonly recent: readonly number[];
  readonly isQuiet: boolean;
}

const windowMinutes = 15;
/** The half-life of the average is about 90 minutes. It follows day and night, but not single minutes. */
const memoryMinutes = 120;
/** With fewer expected items, a window may be silent by chance. */
const expectedMin = 20;
const quietBelow = 0.1;
const loudAbove = 0.3;
/** A replay after an outage delivers hours of items in a minute. At most this many usual minutes count. */
const burstMax = 10;

export function newVolume(usual: number | null): Volume {
  return { usual: usual ?? 0, minutes: usual === null ? 0 : memoryMinutes, recent: [], isQuiet: false };
}

export function afterMinute(volume: Volume, items: number): Volume {
  const isKnown = volume.minutes >= windowMinutes;
  const counted = isKnown ? Math.min(items, Math.max(expectedMin, volume.usual * burstMax)) : items;
  const minutes = Math.min(memoryMinutes, volume.minutes + 1);
  const recent = [...volume.recent, items].slice(-windowMinutes);
  // Compared with the average before this minute.
  const expected = volume.usual * windowMinutes;
  const received = recent.reduce((sum, one) => sum + one, 0);
  const isMeasurable = isKnown && expected >= expectedMin && recent.length === windowMinutes;
  const limit = volume.isQuiet ? loudAbove : quietBelow;
  return {
    usual: volume.usual + (counted - volume.usual) / minutes,
    minutes,
    recent,
    isQuiet: isMeasurable && received < expected * limit,
  };
}

/** The average is stored for the next holder of the source every this many minutes. */
const keepEveryMinutes = 5;

export interface VolumeWatchOptions {
  readonly sourceId: string;
  readonly eventLog: EventLog;
  readonly telemetry: Telemetry;
  /** The average that an earlier holder stored. */
  readonly usual: number | null;
  readonly keep: (usualPerMinute: number) => Promise<unknown>;
  /** Whether the stream was open for the whole last minute. */
  readonly wasOpen: () => boolean;
  readonly minuteMs: number;
}

/**
 * Counts appended items and reports when an open stream goes quiet. It does not reconnect, because that would not
 * help.
 */
export function watchVolume(options: VolumeWatchOptions): Disposable & { readonly eventLog: EventLog } {
  const { sourceId, eventLog, telemetry, keep, wasOpen } = options;
  let volume = newVolume(options.usual);
  let items = 0;
  let minutes = 0;
  const counting = repeat(options.minuteMs, () => {
    const count = items;
    items = 0;
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
    // If this fails, it is stored five minutes later.
    return ++minutes % keepEveryMinutes === 0 ? keep(volume.usual) : undefined;
  });
  return {
    eventLog: {
      ...eventLog,
      append(event, consumed, giveUp) {
        items++;
        return eventLog.append(event, consumed, giveUp);
      },
    },
    [Symbol.dispose]: () => counting[Symbol.dispose](),
  };
}
