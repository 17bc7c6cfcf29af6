import type { EventLog } from '../event-log/event-log.ts';
import type { Events } from '../observability/events.ts';
import { afterMinute, newVolume } from './volume.ts';

/** Every this many minutes the usual volume is kept for the next holder of the source. */
const keepEveryMinutes = 5;

export interface VolumeWatchOptions {
  readonly sourceId: string;
  readonly eventLog: EventLog;
  readonly events: Events;
  /** What a former holder found usual. */
  readonly usual: number | null;
  readonly keep: (usualPerMinute: number) => Promise<void>;
  /** Whether the stream was open for the whole of the last minute. */
  readonly wasOpen: () => boolean;
  readonly minuteMs: number;
}

/** Counts what goes to the log, and tells when an open stream goes quiet. It tells; a reconnect would not help. */
export function watchVolume(options: VolumeWatchOptions): Disposable & { readonly eventLog: EventLog } {
  const { sourceId, eventLog, events, keep, wasOpen } = options;
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
      events.sourceQuiet({
        sourceId,
        isQuiet: volume.isQuiet,
        perMinute: volume.recent.reduce((sum, one) => sum + one, 0) / volume.recent.length,
        usualPerMinute: before.usual,
      });
    }
    // Not kept this time is kept the next time.
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
