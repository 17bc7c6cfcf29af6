import { platforms } from '@earshot/contract';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

/** Why an upstream item did not become an event or a match. All series are present at zero. */
export const dropReasons = [
  'not_json',
  'unknown_shape',
  'too_large',
  'nested_too_deep',
  'time_out_of_range',
  'unknown_rule',
] as const;
export type DropReason = (typeof dropReasons)[number];

/** Why a match stream to a caller ended. */
export const matchStreamEndings = ['gone', 'slow', 'leaving', 'key', 'failed'] as const;
export type MatchStreamEnding = (typeof matchStreamEndings)[number];

export type Metrics = ReturnType<typeof createMetrics>;

/**
 * Interval at which the event-loop lag is sampled, which is also the minimum that it shows. Each sample wakes the
 * process. At the library's default of 10 ms, that would be a fifth of an idle server's CPU time.
 */
const eventLoopSampleMs = 50;

/** One registry per process, passed from the composition root. Ids never become labels. */
export function createMetrics() {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: eventLoopSampleMs });
  const make = makers(registry);
  const pools: WatchedPool[] = [];
  const appends = { refusedMs: () => 0 };
  const metrics = {
    registry,
    /** Database connection pools that are read at each scrape. */
    pools,
    ...poolMetrics(registry, pools),
    /** Read at each scrape. */
    appends,
    ...appendMetrics(registry, appends),
    ...nodeMetrics(make),
    ...freshnessMetrics(make),
    ...requestMetrics(make),
    ...logMetrics(make),
    ...sourceMetrics(make),
    ...matchMetrics(make),
    ...webhookMetrics(make),
    ...billMetrics(make),
  };
  // Removed reason they are unknown until read, not 0. EarshotDown checks the absence of the first. Only nodes with
  // the role `match` know the partitions. A node that waits for PostgreSQL has not tried NATS yet.
  const { matchedThrough, webhooksTriedThrough, webhooksFailingSince, partitionDaysAhead, natsConnected } =
    metrics;
  for (const unread of [
    matchedThrough,
    webhooksTriedThrough,
    webhooksFailingSince,
    partitionDaysAhead,
    natsConnected,
  ])
    unread.remove();
  for (const ending of matchStreamEndings) metrics.matchStreamEndings.inc({ ending }, 0);
  for (const outcome of ['delivered', 'failed', 'refused', 'gone', 'not_sent']) {
    metrics.webhookAttempts.inc({ outcome }, 0);
  }
  for (const outcome of ['sent', 'failed', 'given_up']) metrics.digestAttempts.inc({ outcome }, 0);
  for (const reason of ['gone', 'failing']) metrics.webhooksDisabled.inc({ reason }, 0);
  for (const fate of ['found', 'forgotten', 'recovered', 'lost']) metrics.logGaps.inc({ fate }, 0);
  for (const fate of ['lost', 'replaced', 'restored']) metrics.eventLogLosses.inc({ fate }, 0);
  for (const fate of ['sent', 'failed', 'dropped']) metrics.traceSpans.inc({ fate }, 0);
  for (const platform of platforms) {
    for (const reason of dropReasons) metrics.itemsDropped.inc({ platform, reason }, 0);
    metrics.eventsLogged.inc({ platform }, 0);
    metrics.eventLoggedSeconds.zero({ platform });
    metrics.eventStoredSeconds.zero({ platform });
    metrics.matchesStored.inc({ platform }, 0);
  }
  return metrics;
}

export interface WatchedPool {
  readonly name: string;
  readonly use: () => { readonly busy: number; readonly idle: number; readonly waiting: number };
}

function poolMetrics(registry: Registry, pools: readonly WatchedPool[]) {
  const databasePool = new Gauge({
    name: 'earshot_database_pool',
    help: 'Connections of a pool by state, and callers that wait for one.',
    labelNames: ['pool', 'state'],
    registers: [registry],
    collect() {
      for (const { name: pool, use } of pools)
        for (const [state, count] of Object.entries(use())) this.set({ pool, state }, count);
    },
  });
  return { databasePool };
}

function appendMetrics(registry: Registry, appends: { refusedMs: () => number }) {
  const appendBlocked = new Gauge({
    name: 'earshot_event_log_append_blocked_seconds',
    help: 'Age of the oldest append that the event log refuses, from 3 s on; otherwise 0.',
    registers: [registry],
    collect() {
      this.set(appends.refusedMs() / 1000);
    },
  });
  return { appendBlocked };
}

type Makers = ReturnType<typeof makers>;

function nodeMetrics(make: Makers) {
  return {
    databaseConnected: make.gauge('database_connected', '1 while the node can reach PostgreSQL.', []),
    clockOffset: make.gauge(
      'clock_offset_seconds',
      'How far the clock of the node is ahead of the clock of PostgreSQL; negative if it is behind.',
      [],
    ),
    natsConnected: make.gauge('nats_connected', '1 while the node is connected to NATS.', []),
    natsDisconnects: make.counter('nats_disconnects_total', 'Lost connections to NATS.', []),
    statementSeconds: make.histogram(
      'database_statement_seconds',
      'Duration of a statement; outside a transaction with the wait for a connection.',
      [],
    ),
    connectionWaitSeconds: make.histogram(
      'database_connection_wait_seconds',
      'Time that a transaction waited for a connection of the pool.',
      [],
    ),
    traceSpans: make.counter(
      'trace_spans_total',
      'Trace spans that the collector accepted (sent) or refused (failed), or that exceeded the queue (dropped).',
      ['fate'],
    ),
    buildInfo: make.gauge('build_info', 'Always 1; labels: version of the node, newest migration.', [
      'version',
      'schema',
    ]),
  };
}

/**
 * Read from the database by every node, so that running nodes report for crashed ones. Timestamps instead of ages,
 * because a timestamp that is not updated shows a growing age.
 */
function freshnessMetrics(make: Makers) {
  return {
    sourceLastReceived: make.gauge(
      'source_last_received_timestamp_seconds',
      'Time up to which a source with rules has received.',
      ['source'],
    ),
    gapsWaitingForBudget: make.gauge(
      'gaps_waiting_for_budget',
      'Gaps that are not repaired today, because the daily budget of searches is spent.',
      [],
    ),
    matchedThrough: make.gauge(
      'matched_through_timestamp_seconds',
      'Time up to which all received events are matched.',
      [],
    ),
  };
}

function requestMetrics(make: Makers) {
  return {
    requests: make.counter('http_requests_total', 'HTTP requests.', ['operation', 'status']),
    requestSeconds: make.histogram('http_request_seconds', 'Duration of a request.', ['operation']),
    workerFailures: make.counter('worker_failures_total', 'Failures of supervised workers.', ['worker']),
  };
}

function logMetrics(make: Makers) {
  return {
    eventsLogged: make.counter('events_logged_total', 'Events acknowledged by the event log.', ['platform']),
    eventLoggedSeconds: make.histogram(
      'event_logged_seconds',
      'Time from the receipt of an item to its acknowledgement by the event log.',
      ['platform'],
    ),
    eventStoredSeconds: make.histogram(
      'event_stored_seconds',
      'Time from the receipt of an item to the commit of its matches.',
      ['platform'],
    ),
    logBytes: make.gauge('event_log_bytes', 'Size of the event log; a full log refuses events.', []),
    logBytesMax: make.gauge('event_log_bytes_max', 'Size at which the event log is full.', []),
    logWaiting: make.gauge('event_log_waiting', 'Unmatched messages of up to 64 events in the log.', []),
    logCopiesBehind: make.gauge(
      'event_log_copies_behind',
      'Copies of the event log that are offline or outdated.',
      [],
    ),
    logCheckedThrough: make.gauge(
      'event_log_checked_through',
      'Sequence up to which every logged event is settled.',
      [],
    ),
    logGaps: make.counter(
      'event_log_gaps_total',
      'Messages that the log skipped (found) or a restored database lacked (forgotten), recovered or lost.',
      ['fate'],
    ),
    eventLogLosses: make.counter(
      'event_log_losses_total',
      'Times that the event log was lost, replaced or restored.',
      ['fate'],
    ),
    matchLogRestored: make.counter(
      'match_log_restored_total',
      'Times that this node found the database restored to an earlier state.',
      [],
    ),
    deadLetters: make.counter('dead_letters_total', 'Events that could not be stored.', []),
    judgeCalls: make.counter('judge_calls_total', 'Calls of the judge, by verdict or failure.', ['outcome']),
    partitionDaysAhead: make.gauge('partition_days_ahead', 'Days from today that have partitions.', []),
    itemsDropped: make.counter('items_dropped_total', 'Upstream items dropped.', ['platform', 'reason']),
  };
}

function sourceMetrics(make: Makers) {
  return {
    streamLive: make.gauge('stream_live', '1 while the stream of a source is open.', ['source']),
    streamEndings: make.counter('stream_endings_total', 'How upstream streams ended.', ['platform', 'kind']),
    sourceState: make.gauge('source_state', '1 for the current state of a source.', ['source', 'state']),
    sourceQuiet: make.gauge('source_quiet', '1 while an open stream delivers far less than usual.', [
      'source',
    ]),
    connects: make.counter('connects_total', 'Attempts to open an upstream stream.', ['platform']),
    ruleCallFailures: make.counter('rule_call_failures_total', 'Failed upstream rule calls.', ['source']),
    foreignRules: make.gauge('foreign_rules', 'Upstream rules that Earshot did not create.', ['source']),
  };
}

function matchMetrics(make: Makers) {
  return {
    matchesStored: make.counter('matches_stored_total', 'Matches stored for the first time.', ['platform']),
    unexplained: make.counter(
      'unexplained_total',
      "Matches of the platform that Earshot's evaluator rejects, by operator.",
      ['platform', 'operator'],
    ),
    matchStreams: make.gauge('match_streams', 'Match streams that callers have open.', []),
    matchStreamEndings: make.counter('match_stream_endings_total', 'How match streams ended.', ['ending']),
    matchFollowedSeconds: make.histogram(
      'match_followed_seconds',
      'Time from storing a match to passing it to followers.',
      [],
    ),
    matchBatchSeconds: make.histogram(
      'match_batch_seconds',
      'Time from taking a batch of events to its commit.',
      [],
    ),
  };
}

function webhookMetrics(make: Makers) {
  return {
    webhooks: make.gauge('webhooks', 'Webhooks by state; failing ones are not counted as active.', ['state']),
    webhooksTriedThrough: make.gauge(
      'webhooks_tried_through_timestamp_seconds',
      'Time up to which webhooks with working endpoints are attempted.',
      [],
    ),
    webhooksFailingSince: make.gauge(
      'webhooks_failing_since_timestamp_seconds',
      'Start of the longest failure of an endpoint; now if none fails.',
      [],
    ),
    webhookAttempts: make.counter('webhook_attempts_total', 'Webhook attempts.', ['outcome']),
    digestAttempts: make.counter('digest_attempts_total', 'Attempts to send a digest message.', ['outcome']),
    webhookAttemptSeconds: make.histogram('webhook_attempt_seconds', 'Duration of webhook attempts.', []),
    webhookWaitSeconds: make.histogram(
      'webhook_wait_seconds',
      'Time from storing a match, or from when its webhook is due, to the first attempt.',
      [],
    ),
    webhookMatchesParked: make.counter(
      'webhook_matches_parked_total',
      'Matches that an endpoint refused while it accepted others.',
      [],
    ),
    webhookSecretsUnreadable: make.gauge(
      'webhook_secrets_unreadable',
      'Webhooks whose secret this node cannot read.',
      [],
    ),
    webhooksDisabled: make.counter('webhooks_disabled_total', 'Webhooks that Earshot disabled.', ['reason']),
  };
}

/** Read from the database by nodes with the role `match`: all-time totals, equal on each of them. */
function billMetrics(make: Makers) {
  return {
    billed: make.gauge('billed_total', 'Units that the platforms billed: lower and upper estimate.', [
      'source',
      'kind',
      'reading',
    ]),
    costUsd: make.gauge('cost_usd_total', 'Billed cost in US dollars: lower and upper estimate.', [
      'source',
      'reading',
    ]),
    installationBilled: make.gauge(
      'installation_billed_usd',
      'Upper estimate of the cost of all sources in this UTC day or month, if capped.',
      ['period'],
    ),
    usageDifference: make.gauge(
      'usage_difference',
      "Usage by the platform for the last compared day, minus Earshot's count.",
      ['source', 'reading'],
    ),
  };
}

function makers(registry: Registry) {
  const registers = [registry];
  // 0.25, 2 and 5 s are service level objectives (docs/operations/monitoring.md).
  const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30];
  return {
    counter: <Label extends string>(name: string, help: string, labelNames: readonly Label[]) =>
      new Counter({ name: `earshot_${name}`, help, labelNames, registers }),
    gauge: <Label extends string>(name: string, help: string, labelNames: readonly Label[]) =>
      new Gauge({ name: `earshot_${name}`, help, labelNames, registers }),
    histogram: <Label extends string>(name: string, help: string, labelNames: readonly Label[]) =>
      new Histogram({ name: `earshot_${name}`, help, labelNames, buckets, registers }),
  };
}
