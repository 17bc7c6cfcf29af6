import { costTelemetry } from './cost-telemetry.ts';
import type { Logger } from './logger.ts';
import type { DropReason, MatchStreamEnding, Metrics } from './metrics.ts';
import { webhookTelemetry } from './webhook-telemetry.ts';

/** One function per business event: it writes the log line and updates the metric, so that they agree. */
export type Telemetry = ReturnType<typeof createTelemetry>;

/** `stopped` means paused because of a budget. */
type RuleChange = 'updated' | 'paused' | 'resumed' | 'stopped';

/** Requests that load balancers and orchestrators send every few seconds. */
export const probeOperation = 'Probe';

export function createTelemetry(log: Logger, metrics: Metrics) {
  return {
    ...nodeTelemetry(log, metrics),
    ...requestTelemetry(log, metrics),
    ...ruleTelemetry(log, metrics),
    ...costTelemetry(log),
    ...sourceTelemetry(log),
    ...streamTelemetry(log, metrics),
    ...repairTelemetry(log),
    ...matchTelemetry(log, metrics),
    ...readerTelemetry(log, metrics),
    ...webhookTelemetry(log, metrics),
  };
}

function nodeTelemetry(log: Logger, metrics: Metrics) {
  return {
    /** After the first connection. */
    natsChanged({ isConnected, server }: { isConnected: boolean; server: string }) {
      metrics.natsConnected.set(isConnected ? 1 : 0);
      if (isConnected) return log.info({ server }, 'connected to NATS again');
      metrics.natsDisconnects.inc();
      log.warn({ server }, 'the connection to NATS is lost; retrying');
    },
    /** After the first connection. */
    databaseChanged(change: { isConnected: true } | { isConnected: false; err: Error }) {
      metrics.databaseConnected.set(change.isConnected ? 1 : 0);
      if (change.isConnected) return log.info('connected to PostgreSQL again');
      log.warn({ reason: change.err.message }, 'the connection to PostgreSQL is lost; retrying');
    },
  };
}

function requestTelemetry(log: Logger, metrics: Metrics) {
  return {
    /** Logs the caller's ids and address, also for refused requests. */
    requestAnswered(request: {
      operation: string;
      status: number;
      ms: number;
      requestId: string;
      address: string;
      /** Null if no key was accepted. */
      principal: { readonly keyId: string; readonly accountId: string } | null;
      /** Set for a request that was accepted by the URL of a feed. */
      feedId?: string;
      accountId?: string;
    }) {
      const { operation, status, ms, principal, ...fields } = request;
      const caller = principal && { keyId: principal.keyId, accountId: principal.accountId };
      metrics.requests.inc({ operation, status: String(status) });
      metrics.requestSeconds.observe({ operation }, ms / 1000);
      const level = operation === probeOperation ? 'debug' : 'info';
      log[level]({ operation, status, ms: Math.round(ms), ...fields, ...caller }, 'request');
    },
  };
}

function ruleTelemetry(log: Logger, metrics: Metrics) {
  const warnAboutForeignRules = createForeignRulesWarning(log);
  return {
    ruleCreated(rule: { ruleId: string; accountId: string; ms: number }) {
      log.info(rule, 'rule created');
    },
    ruleRefused(rule: { ruleId: string; accountId: string; reason: string }) {
      log.info(rule, 'rule creation undone');
    },
    ruleDeleted(rule: { ruleId: string; accountId: string }) {
      log.info(rule, 'rule deleted');
    },
    ruleChanged(rule: { ruleId: string; accountId: string; change: RuleChange }) {
      log.info(rule, 'rule changed');
    },
    ruleChangeRefused(rule: { ruleId: string; accountId: string; reason: string }) {
      log.info(rule, 'rule change undone');
    },
    rulesExpired(count: number) {
      if (count > 0) log.info({ count }, 'rules paused because they expired');
    },
    abandonedChangesUndone(count: number) {
      if (count > 0) log.warn({ count }, 'rule changes undone because their caller disconnected');
    },
    abandonedCreationsUndone(count: number) {
      if (count > 0) log.warn({ count }, 'rule creations undone because their caller disconnected');
    },
    slotsRegistered(slots: { sourceId: string; count: number }) {
      if (slots.count > 0) log.info(slots, 'upstream rules registered');
    },
    upstreamRulesFailed(failure: { platform: string; sourceId: string; err: Error }) {
      metrics.ruleCallFailures.inc({ source: failure.sourceId });
      log.warn(failure, 'upstream rule call failed');
    },
    ruleCallPostponed(call: { platform: string; sourceId: string; waitMs: number }) {
      log.debug(call, 'upstream rule calls postponed because the rate limit is reached');
    },
    drainedWithoutUpstream(result: { sourceId: string; moved: number }) {
      log.info(result, 'rules of a source without a valid token moved to other sources');
    },
    reconciled(result: {
      sourceId: string;
      moved: number;
      adopted: number;
      vanished: number;
      removed: number;
      gone: number;
      foreign: number;
      unused: readonly string[];
    }) {
      const { unused, ...counts } = result;
      metrics.foreignRules.set({ source: result.sourceId }, result.foreign);
      warnAboutForeignRules(result.sourceId, unused);
      const changed = result.adopted + result.vanished + result.removed + result.gone + result.moved > 0;
      log[changed ? 'info' : 'debug'](counts, 'upstream rules reconciled');
    },
  };
}

const unusedShown = 5;

/** Warns once per number of rules: a check every 30 s must not fill the log. */
function createForeignRulesWarning(log: Logger) {
  const known = new Map<string, number>();
  return (sourceId: string, values: readonly string[]): void => {
    if (values.length === (known.get(sourceId) ?? 0)) return;
    known.set(sourceId, values.length);
    if (values.length === 0) return;
    const shown = values.slice(0, unusedShown).map((value) => value.slice(0, 200));
    log.warn(
      { sourceId, count: values.length, values: shown },
      'the platform has rules that Earshot did not create; their matches may be billed and are not stored',
    );
  };
}

function sourceTelemetry(log: Logger) {
  return {
    sourceFull(source: { sourceId: string; takes: number; moved: number; failed: number }) {
      log.warn(source, 'a source accepts no more rules');
    },
  };
}
/** Everyday states; all others are logged as warnings. */
const usualStates = new Set(['live', 'reconnecting', 'no_rules', 'stopped']);

function repairTelemetry(log: Logger) {
  return {
    gapSearched(search: { sourceId: string; slotId: string; posts: number }) {
      log.info(search, 'gap searched');
    },
    searchRefused(search: { sourceId: string; slotId: string; words: string }) {
      log.warn(search, 'the platform refused to search for a query');
    },
    repairPostponed(repair: { sourceId: string; waitMs: number; err: Error }) {
      log.warn(repair, 'gap repair postponed');
    },
    complianceCheckPostponed(check: { platform: string; err: Error }) {
      log.warn(check, 'the compliance check of stored items failed and will be retried');
    },
    keptItemsChecked(check: { platform: string; requested: number; items: number; matches: number }) {
      log.info(check, 'stored items checked with their platform; deleted ones are removed');
    },
    deletedItemsRemoved(removed: { platform: string; items: number; matches: number }) {
      log.info(removed, 'items removed that their authors deleted');
    },
    gapRepaired(gap: { sourceId: string; from: Date; to: Date; via: string }) {
      log.info(gap, 'gap repaired');
    },
  };
}

/** Sets one state per source, or none. */
function createStateGauge(metrics: Metrics) {
  const states = new Map<string, string>();
  return (source: string, state: string | null) => {
    const before = states.get(source);
    if (before !== undefined) metrics.sourceState.remove({ source, state: before });
    states.delete(source);
    if (state === null) return;
    states.set(source, state);
    metrics.sourceState.set({ source, state }, 1);
  };
}

function streamTelemetry(log: Logger, metrics: Metrics) {
  const showState = createStateGauge(metrics);
  return {
    streamOpened(stream: { platform: string; sourceId: string; from: string }) {
      metrics.streamLive.set({ source: stream.sourceId }, 1);
      log.info(stream, 'stream open');
    },
    /** `streamEnded` follows when the log has all received items, which may take long if the log refuses events. */
    streamClosed(sourceId: string) {
      metrics.streamLive.set({ source: sourceId }, 0);
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
    connecting(platform: string) {
      metrics.connects.inc({ platform });
    },
    /** Called on a change only. */
    sourceStateChanged(source: {
      platform: string;
      sourceId: string;
      from: string;
      state: string;
      detail: string | null;
      nextAttemptInMs: number | null;
    }) {
      showState(source.sourceId, source.state);
      log[usualStates.has(source.state) ? 'info' : 'warn'](source, 'source state');
    },
    /** This node no longer runs the source, so it stops reporting its state. */
    sourceLeft(sourceId: string) {
      showState(sourceId, null);
      metrics.streamLive.remove({ source: sourceId });
      metrics.sourceQuiet.remove({ source: sourceId });
    },
    sourceQuiet(source: { sourceId: string; isQuiet: boolean; perMinute: number; usualPerMinute: number }) {
      metrics.sourceQuiet.set({ source: source.sourceId }, source.isQuiet ? 1 : 0);
      if (source.isQuiet) log.warn(source, 'the stream is open but delivers far less than usual');
      else log.info(source, 'the stream delivers its usual volume again');
    },
    staleConnectionsEnded(stale: { sourceId: string; count: number }) {
      log.warn(stale, 'stale connections that blocked the stream were ended');
    },
    /** Called once per outage; `reason` is the error text of NATS. */
    eventLogRefuses(refusal: { reason: string }) {
      log.warn(
        refusal,
        'the event log refuses events; check nats-server, and restart it if its disk was full',
      );
    },
    eventLogAcceptsAgain({ refusedMs }: { refusedMs: number }) {
      log.info({ refusedMs: Math.round(refusedMs) }, 'the event log accepts events again');
    },
    /** `ms` is the time since its receipt. */
    eventLogged({ platform, ms }: { platform: string; ms: number }) {
      metrics.eventsLogged.inc({ platform });
      metrics.eventLoggedSeconds.observe({ platform }, ms / 1000);
    },
    itemDropped(item: { platform: string; reason: DropReason; detail?: string }) {
      metrics.itemsDropped.inc({ platform: item.platform, reason: item.reason });
      log.warn(item, 'upstream item dropped');
    },
  };
}

function matchTelemetry(log: Logger, metrics: Metrics) {
  return {
    batchStored(batch: { events: number; matches: Record<string, number>; ms: number }) {
      metrics.matchBatchSeconds.observe(batch.ms / 1000);
      for (const [platform, count] of Object.entries(batch.matches)) {
        metrics.matchesStored.inc({ platform }, count);
      }
      log.debug(batch, 'events matched');
    },
    /** `ms` is the time since its receipt, by two clocks that may differ. */
    eventStored({ platform, ms }: { platform: string; ms: number }) {
      metrics.eventStoredSeconds.observe({ platform }, Math.max(0, ms) / 1000);
    },
    /** The platform delivered it and it is stored, but Earshot's evaluator rejects it because of the operator. */
    matchUnexplained(match: { platform: string; operator: string; value: string; platformPostId: string }) {
      metrics.unexplained.inc({ platform: match.platform, operator: match.operator });
      log.info(match, 'the platform matched an item that the evaluator of Earshot rejects');
    },
    eventFailed(event: { sequence: number; deliveries: number; reason: string }) {
      log.warn(event, 'an event could not be stored and will be retried');
    },
    eventDeadLettered(event: { sequence: number; deliveries: number; reason: string }) {
      metrics.deadLetters.inc();
      log.error(event, 'an event could not be stored and is now a dead letter');
    },
    deadLetterRetried(letter: { id: number; outcome: 'stored' | 'failed' }) {
      log.info(letter, 'dead letter retried');
    },
    ...logCheckTelemetry(log, metrics),
    partitionsAhead(days: number) {
      metrics.partitionDaysAhead.set(days);
    },
    dayRemoved(day: { table: string }) {
      log.info(day, 'partition removed by retention');
    },
    logSpace(use: {
      removed: number;
      bytes: number;
      bytesMax: number;
      waiting: number;
      copiesBehind: number;
    }) {
      metrics.logWaiting.set(use.waiting);
      metrics.logCopiesBehind.set(use.copiesBehind);
      metrics.logBytes.set(use.bytes);
      metrics.logBytesMax.set(use.bytesMax);
      if (use.removed > 0) log.info(use, 'matched events removed from the log to make room');
    },
    /** `status`: 401 is a wrong key, 404 a wrong URL or model; null if there was no answer. */
    matchJudged(judged: { ruleId: string; outcome: string; failed: boolean; status: number | null }) {
      const { outcome, failed, ...call } = judged;
      metrics.judgeCalls.inc({ outcome });
      if (failed) log.warn({ ...call, outcome }, 'the judge gave no verdict');
    },
    matchesPurged(count: number) {
      if (count > 0) log.info({ count }, 'matches of deleted rules purged');
    },
  };
}

function logCheckTelemetry(log: Logger, metrics: Metrics) {
  return {
    logChecked(through: number) {
      metrics.logCheckedThrough.set(through);
    },
    /** A copy of the log is damaged; its node should be wiped and joined again. */
    logGapFound(gap: { from: number; to: number; count: number; consumerLeader: string | null }) {
      metrics.logGaps.inc({ fate: 'found' }, gap.count);
      log.error(gap, 'the event log skipped events: a copy of it is damaged');
    },
    /** The database was restored to a state without these events; the log is healthy. */
    eventsForgotten(forgotten: { from: number; to: number; count: number }) {
      metrics.logGaps.inc({ fate: 'forgotten' }, forgotten.count);
      log.error(
        forgotten,
        'the database was restored to an earlier state; events are stored again from the log',
      );
    },
    /** Unmatched events of the lost log are a gap on the ledger now. */
    eventLogLost(lost: { fate: string }) {
      metrics.eventLogLosses.inc(lost);
      log.error(
        lost,
        'the event log is gone or was restored to an earlier state; unmatched events are lost and become a gap',
      );
    },
    /** Reported by a node that had read matches which are gone now. */
    matchLogRestored(positions: { from: number; to: number }) {
      metrics.matchLogRestored.inc();
      log.error(
        positions,
        'the match log was restored to an earlier state; followers are notified and continue',
      );
    },
    logGapRecovered(gap: { count: number }) {
      metrics.logGaps.inc({ fate: 'recovered' }, gap.count);
      log.warn(gap, 'missing events were fetched from the event log and stored');
    },
    logGapLost(gap: { from: number; to: number; count: number }) {
      metrics.logGaps.inc({ fate: 'lost' }, gap.count);
      log.error(gap, 'no copy of the event log has these events; they are lost');
    },
  };
}

function readerTelemetry(log: Logger, metrics: Metrics) {
  return {
    /** `ms` is the time since it was stored. */
    matchFollowed(ms: number) {
      metrics.matchFollowedSeconds.observe(Math.max(0, ms) / 1000);
    },
    matchStreamOpened() {
      metrics.matchStreams.inc();
    },
    matchStreamClosed(stream: { ending: MatchStreamEnding; ms: number; err?: unknown }) {
      metrics.matchStreams.dec();
      metrics.matchStreamEndings.inc({ ending: stream.ending });
      log[stream.ending === 'failed' ? 'error' : 'debug'](stream, 'match stream ended');
    },
  };
}
