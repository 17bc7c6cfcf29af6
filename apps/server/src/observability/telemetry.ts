import { costTelemetry } from './cost-telemetry.ts';
import type { Logger } from './logger.ts';
import type { DropReason, Metrics, StreamEnding } from './metrics.ts';
import { webhookTelemetry } from './webhook-telemetry.ts';

/** One function per business event: it writes the log line and counts the metric, so they cannot disagree. */
export type Telemetry = ReturnType<typeof createTelemetry>;

/** `stopped`: paused for a budget. */
type RuleChange = 'updated' | 'paused' | 'resumed' | 'stopped';

/** What load balancers and orchestrators ask every few seconds. */
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
    /** Who asked is told by ids and address, also of a request that was refused. */
    requestAnswered(request: {
      operation: string;
      status: number;
      ms: number;
      requestId: string;
      address: string;
      /** Null when no key was accepted. */
      principal: { readonly keyId: string; readonly accountId: string } | null;
    }) {
      const { operation, status, ms, principal, ...fields } = request;
      const who = principal && { keyId: principal.keyId, accountId: principal.accountId };
      metrics.requests.inc({ operation, status: String(status) });
      metrics.requestSeconds.observe({ operation }, ms / 1000);
      const level = operation === probeOperation ? 'debug' : 'info';
      log[level]({ operation, status, ms: Math.round(ms), ...fields, ...who }, 'request');
    },
  };
}

function ruleTelemetry(log: Logger, metrics: Metrics) {
  const warnOfUnused = createUnusedWarning(log);
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
      if (count > 0) log.warn({ count }, 'rule changes undone whose caller is gone');
    },
    abandonedCreationsUndone(count: number) {
      if (count > 0) log.warn({ count }, 'creations undone whose caller is gone');
    },
    slotsRegistered(slots: { sourceId: string; count: number }) {
      if (slots.count > 0) log.info(slots, 'slots registered upstream');
    },
    upstreamRulesFailed(failure: { platform: string; sourceId: string; err: Error }) {
      metrics.ruleCallFailures.inc({ source: failure.sourceId });
      log.warn(failure, 'upstream rule call failed');
    },
    ruleCallPostponed(call: { platform: string; sourceId: string; waitMs: number }) {
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
      unused: readonly string[];
    }) {
      const { unused, ...counts } = result;
      metrics.foreignRules.set({ source: result.sourceId }, result.foreign);
      warnOfUnused(result.sourceId, unused);
      const changed = result.adopted + result.vanished + result.removed + result.gone + result.moved > 0;
      log[changed ? 'info' : 'debug'](counts, 'upstream rules reconciled');
    },
  };
}

const unusedShown = 5;

/** Once for each number of them: a look every 30 s must not fill the log. */
function createUnusedWarning(log: Logger) {
  const known = new Map<string, number>();
  return (sourceId: string, values: readonly string[]): void => {
    if (values.length === (known.get(sourceId) ?? 0)) return;
    known.set(sourceId, values.length);
    if (values.length === 0) return;
    const shown = values.slice(0, unusedShown).map((value) => value.slice(0, 200));
    log.warn(
      { sourceId, count: values.length, values: shown },
      'the upstream has rules that are not ours: what they match may be billed, and is not stored',
    );
  };
}

function sourceTelemetry(log: Logger) {
  return {
    sourceFull(source: { sourceId: string; takes: number; moved: number; failed: number }) {
      log.warn(source, 'a source takes no more rules');
    },
  };
}
/** Part of every day; all others want a look. */
const usualStates = new Set(['live', 'reconnecting', 'no_rules', 'stopped']);

function repairTelemetry(log: Logger) {
  return {
    gapSearched(search: { sourceId: string; slotId: string; posts: number }) {
      log.info(search, 'gap searched');
    },
    searchRefused(search: { sourceId: string; slotId: string; words: string }) {
      log.warn(search, 'the upstream refused to search for a value');
    },
    repairPutOff(repair: { sourceId: string; waitMs: number; err: Error }) {
      log.warn(repair, 'repair of gaps put off');
    },
    complianceCheckPutOff(check: { platform: string; err: Error }) {
      log.warn(check, 'the platform could not be asked which kept items are gone');
    },
    keptItemsChecked(check: { platform: string; requested: number; items: number; matches: number }) {
      log.info(check, 'kept items compared with their platform; those that are gone are removed');
    },
    gapRepaired(gap: { sourceId: string; from: Date; to: Date; via: string }) {
      log.info(gap, 'gap repaired');
    },
  };
}

/** One state per source, or none. */
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
    /** `streamEnded` follows when the log has all that was read, which a log that refuses events puts off. */
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
    /** Told on a change only. */
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
    /** This node does not listen to the source any more: what it knew last is not its to show. */
    sourceLeft(sourceId: string) {
      showState(sourceId, null);
      metrics.streamLive.remove({ source: sourceId });
      metrics.sourceQuiet.remove({ source: sourceId });
    },
    sourceQuiet(source: { sourceId: string; isQuiet: boolean; perMinute: number; usualPerMinute: number }) {
      metrics.sourceQuiet.set({ source: source.sourceId }, source.isQuiet ? 1 : 0);
      if (source.isQuiet) log.warn(source, 'the stream is open and brings far less than usual');
      else log.info(source, 'the stream brings what it usually does');
    },
    staleConnectionsEnded(stale: { sourceId: string; count: number }) {
      log.warn(stale, 'dead connections ended that took the place of our stream');
    },
    /** `reason` in the words of NATS. Once per outage. */
    eventLogRefuses(refusal: { reason: string }) {
      log.warn(
        refusal,
        'the event log takes no events: see nats-server, which must be restarted if its disk was full',
      );
    },
    eventLogTakesAgain({ refusedMs }: { refusedMs: number }) {
      log.info({ refusedMs: Math.round(refusedMs) }, 'the event log takes events again');
    },
    /** `ms`: since its receipt. */
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
    /** Since its receipt, by two clocks that may differ a little. */
    eventStored({ platform, ms }: { platform: string; ms: number }) {
      metrics.eventStoredSeconds.observe({ platform }, Math.max(0, ms) / 1000);
    },
    /** Delivered by the upstream, and stored; our evaluator denies it because of the operator. */
    matchUnexplained(match: { platform: string; operator: string; value: string; platformPostId: string }) {
      metrics.unexplained.inc({ platform: match.platform, operator: match.operator });
      log.info(match, 'the upstream matched what our evaluator would not');
    },
    eventFailed(event: { sequence: number; deliveries: number; reason: string }) {
      log.warn(event, 'an event could not be stored and is tried again');
    },
    eventDeadLettered(event: { sequence: number; deliveries: number; reason: string }) {
      metrics.deadLetters.inc();
      log.error(event, 'an event could not be stored and is now a dead letter');
    },
    deadLetterRetried(letter: { id: number; outcome: 'stored' | 'failed' }) {
      log.info(letter, 'dead letter tried again');
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
    /** Some copy of the log is damaged: its node should be wiped and joined anew. */
    logHoleFound(hole: { from: number; to: number; count: number; consumerLeader: string | null }) {
      metrics.logHoles.inc({ fate: 'found' }, hole.count);
      log.error(hole, 'the event log left out events: a copy of it is damaged');
    },
    /** The database has gone back to a state in which it had not stored them yet; the log is healthy. */
    eventsForgotten(forgotten: { from: number; to: number; count: number }) {
      metrics.logHoles.inc({ fate: 'forgotten' }, forgotten.count);
      log.error(
        forgotten,
        'the database was restored to an earlier state: events are stored again from the log',
      );
    },
    /** What lay in it and was not matched yet is a gap on the ledger now. */
    eventLogLost(lost: { fate: string }) {
      metrics.eventLogLosses.inc(lost);
      log.error(
        lost,
        'the event log is gone or was restored to an earlier state: what was not matched yet is a gap',
      );
    },
    /** Seen by a node that had read matches which are gone now. */
    matchLogWentBack(positions: { from: number; to: number }) {
      metrics.matchLogWentBack.inc();
      log.error(positions, 'the match log was restored to an earlier state: followers are told, and go on');
    },
    logHoleRecovered(hole: { count: number }) {
      metrics.logHoles.inc({ fate: 'recovered' }, hole.count);
      log.warn(hole, 'missing events were fetched from the event log and stored');
    },
    logHoleLost(hole: { from: number; to: number; count: number }) {
      metrics.logHoles.inc({ fate: 'lost' }, hole.count);
      log.error(hole, 'no copy of the event log has these events: they are lost');
    },
  };
}

function readerTelemetry(log: Logger, metrics: Metrics) {
  return {
    /** Since it was stored. */
    matchFollowed(ms: number) {
      metrics.matchFollowedSeconds.observe(Math.max(0, ms) / 1000);
    },
    matchStreamOpened() {
      metrics.matchStreams.inc();
    },
    matchStreamClosed(stream: { ending: StreamEnding; ms: number; err?: unknown }) {
      metrics.matchStreams.dec();
      metrics.matchStreamEndings.inc({ ending: stream.ending });
      log[stream.ending === 'failed' ? 'error' : 'debug'](stream, 'a stream of matches ended');
    },
  };
}
