import type { Logger } from './logger.ts';
import type { DropReason, Metrics, StreamEnding } from './metrics.ts';

/** One function per business event: it writes the log line and counts the metric, so they cannot disagree. */
export type Events = ReturnType<typeof createEvents>;

export function createEvents(log: Logger, metrics: Metrics) {
  return { ...ruleEvents(log, metrics), ...streamEvents(log, metrics), ...matchEvents(log, metrics) };
}

function ruleEvents(log: Logger, metrics: Metrics) {
  return {
    requestAnswered(request: { operation: string; status: number; ms: number; fields: object }) {
      const { operation, status, ms, fields } = request;
      metrics.requests.inc({ operation, status: String(status) });
      metrics.requestSeconds.observe({ operation }, ms / 1000);
      log.info({ operation, status, ms: Math.round(ms), ...fields }, 'request');
    },
    ruleCreated(rule: { ruleId: string; accountId: string; ms: number }) {
      log.info(rule, 'rule created');
    },
    ruleRefused(rule: { ruleId: string; accountId: string; reason: string }) {
      log.info(rule, 'rule creation undone');
    },
    ruleDeleted(rule: { ruleId: string; accountId: string }) {
      log.info(rule, 'rule deleted');
    },
    ruleChanged(rule: { ruleId: string; accountId: string; change: 'updated' | 'paused' | 'resumed' }) {
      log.info(rule, 'rule changed');
    },
    ruleChangeRefused(rule: { ruleId: string; accountId: string; reason: string }) {
      log.info(rule, 'rule change undone');
    },
    rulesExpired(count: number) {
      if (count > 0) log.info({ count }, 'rules paused because they expired');
    },
    abandonedChangesUndone(count: number) {
      if (count > 0) log.warn({ count }, 'rule changes undone whose caller is gone');
    },
    abandonedCreationsUndone(count: number) {
      if (count > 0) log.warn({ count }, 'creations undone whose caller is gone');
    },
    slotsRegistered(slots: { sourceId: string; count: number }) {
      if (slots.count > 0) log.info(slots, 'slots registered upstream');
    },
    upstreamRulesFailed(failure: { platform: string; sourceId: string; err: Error }) {
      metrics.ruleCallFailures.inc({ platform: failure.platform });
      log.warn(failure, 'upstream rule call failed');
    },
    ruleCallPostponed(call: { platform: string; sourceId: string; waitMs: number }) {
      metrics.ruleCallsPostponed.inc({ platform: call.platform });
      log.debug(call, 'the rule calls that the upstream allows are used up');
    },
    reconciled(result: {
      sourceId: string;
      moved: number;
      adopted: number;
      vanished: number;
      removed: number;
      gone: number;
      foreign: number;
    }) {
      metrics.foreignRules.set({ source: result.sourceId }, result.foreign);
      const changed = result.adopted + result.vanished + result.removed + result.gone + result.moved > 0;
      log[changed ? 'info' : 'debug'](result, 'upstream rules reconciled');
    },
  };
}

function streamEvents(log: Logger, metrics: Metrics) {
  return {
    streamOpened(stream: { platform: string; sourceId: string; from: string }) {
      metrics.streamLive.set({ source: stream.sourceId }, 1);
      log.info(stream, 'stream open');
    },
    streamEnded(stream: {
      platform: string;
      sourceId: string;
      kind: string;
      retryInMs: number;
      detail: string;
    }) {
      metrics.streamLive.set({ source: stream.sourceId }, 0);
      metrics.streamEndings.inc({ platform: stream.platform, kind: stream.kind });
      log.info(stream, 'stream ended');
    },
    eventLogged(platform: string) {
      metrics.eventsLogged.inc({ platform });
    },
    itemDropped(item: { platform: string; reason: DropReason; detail?: string }) {
      metrics.itemsDropped.inc({ platform: item.platform, reason: item.reason });
      log.warn(item, 'upstream item dropped');
    },
  };
}

function matchEvents(log: Logger, metrics: Metrics) {
  return {
    batchStored(batch: { events: number; matches: Record<string, number>; ms: number }) {
      metrics.matchBatchSeconds.observe(batch.ms / 1000);
      for (const [platform, count] of Object.entries(batch.matches)) {
        metrics.matchesStored.inc({ platform }, count);
      }
      log.debug(batch, 'events matched');
    },
    verdictUnexplained(verdict: {
      platform: string;
      operator: string;
      value: string;
      platformPostId: string;
    }) {
      metrics.unexplained.inc({ platform: verdict.platform, operator: verdict.operator });
      log.info(verdict, 'the upstream matched what we would not');
    },
    matchStreamOpened() {
      metrics.matchStreams.inc();
    },
    matchStreamClosed(stream: { ending: StreamEnding; ms: number; err?: unknown }) {
      metrics.matchStreams.dec();
      metrics.matchStreamEndings.inc({ ending: stream.ending });
      log[stream.ending === 'failed' ? 'error' : 'debug'](stream, 'a stream of matches ended');
    },
    logSpace(use: { removed: number; bytes: number; bytesMax: number }) {
      metrics.logBytes.set(use.bytes);
      metrics.logBytesMax.set(use.bytesMax);
      if (use.removed > 0) log.info(use, 'matched events removed from the log to make room');
    },
    matchesPurged(count: number) {
      if (count > 0) log.info({ count }, 'matches of deleted rules purged');
    },
  };
}
