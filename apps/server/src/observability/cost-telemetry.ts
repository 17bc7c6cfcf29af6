import type { Logger } from './logger.ts';

/** Reports how Earshot's bill compares with the platform's own count. */
export function costTelemetry(log: Logger) {
  return {
    /** Reports one UTC day. */
    usageCompared(usage: {
      sourceId: string;
      day: string;
      reported: number;
      atLeast: number;
      atMost: number;
    }) {
      const isBetween = usage.reported >= usage.atLeast && usage.reported <= usage.atMost;
      log[isBetween ? 'info' : 'warn'](usage, 'usage of a day: the count of the platform and of Earshot');
    },
    usageNotReported(source: { sourceId: string }) {
      log.info(
        source,
        'the platform does not report usage for this app, so Earshot cannot compare its own count',
      );
    },
    usageCheckPostponed(check: { sourceId: string; err: Error }) {
      log.warn(check, 'the usage count of the platform cannot be read; retrying in an hour');
    },
  };
}
