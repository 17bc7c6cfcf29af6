import type { Logger } from './logger.ts';

/** Reports how our bill compares with the upstream's own count. */
export function costTelemetry(log: Logger) {
  return {
    /** Of one UTC day. */
    usageCompared(usage: {
      sourceId: string;
      day: string;
      reported: number;
      atLeast: number;
      atMost: number;
    }) {
      const isBetween = usage.reported >= usage.atLeast && usage.reported <= usage.atMost;
      log[isBetween ? 'info' : 'warn'](usage, 'the upstream’s own count of a day, beside ours');
    },
    usageNotTold(source: { sourceId: string }) {
      log.info(
        source,
        'the upstream does not tell this app its usage: what is counted here is compared with nothing',
      );
    },
    usageCheckPutOff(putOff: { sourceId: string; err: Error }) {
      log.warn(putOff, 'the upstream’s own count cannot be read now; it is asked again in an hour');
    },
  };
}
