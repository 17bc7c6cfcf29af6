import type { Logger } from './logger.ts';
import type { Metrics } from './metrics.ts';

/** What is told of bills and estimates. */
export function costTelemetry(log: Logger, metrics: Metrics) {
  return {
    /** A version of a rule was served for so many days since its estimate. */
    estimateGraded(grade: {
      ruleId: string;
      accountId: string;
      basis: string;
      days: number;
      matches: number;
      estimated: number;
      isOff: boolean;
    }) {
      const { basis, days, matches, estimated, isOff } = grade;
      if (estimated >= 1) metrics.estimateRatio.observe({ basis, days: String(days) }, matches / estimated);
      log[isOff ? 'warn' : 'info'](grade, 'estimate graded');
    },
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
