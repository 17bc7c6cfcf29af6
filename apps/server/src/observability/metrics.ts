import { platforms } from '@earshot/contract';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

/** Why an upstream item did not become an event or a match: a closed list, every series present at zero. */
export const dropReasons = [
  'not_json',
  'unknown_shape',
  'too_large',
  'nested_too_deep',
  'time_out_of_range',
  'unknown_rule',
] as const;
export type DropReason = (typeof dropReasons)[number];

/** Why a stream of matches to a caller ended. */
export const streamEndings = ['gone', 'slow', 'leaving', 'key', 'failed'] as const;
export type StreamEnding = (typeof streamEndings)[number];

export type Metrics = ReturnType<typeof createMetrics>;

/**
 * How far apart the looks at the event loop's lag are, which is what an undelayed loop shows. Each wakes the process: at the
 * library's 10 ms that is a fifth of what an idle server costs.
 */
const eventLoopLookMs = 50;

/** One registry per process, handed down from the composition root. Ids never become labels. */
export function createMetrics() {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: eventLoopLookMs });
  const make = makers(registry);
  const pools: WatchedPool[] = [];
  const appends = { refusedMs: () => 0 };
  const metrics = {
    registry,
    /** Pools of database connections whose use is told at each look at the metrics. */
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
  // Unknown until they were read, not 0: EarshotDown is about the absence of the first, only nodes with the role `match` know
  // the partitions, and a node that waits for PostgreSQL has not tried NATS.
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
  for (const ending of streamEndings) metrics.matchStreamEndings.inc({ ending }, 0);
  for (const outcome of ['delivered', 'failed', 'refused', 'gone', 'not_sent']) {
    metrics.webhookAttempts.inc({ outcome }, 0);
  }
  for (const outcome of ['sent', 'failed', 'given_up']) metrics.digestAttempts.inc({ outcome }, 0);
  for (const because of ['gone', 'failing']) metrics.webhooksDisabled.inc({ because }, 0);
  for (const fate of ['found', 'forgotten', 'recovered', 'lost']) metrics.logHoles.inc({ fate }, 0);
  for (const fate of ['lost', 'replaced', 'went_back']) metrics.eventLogLosses.inc({ fate }, 0);
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
    help: 'Connections of a pool that are busy or idle, and callers that wait for one.',
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
    help: 'Time since the oldest append that the event log still refuses, once that is 3 s; 0 without one.',
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
    databaseConnected: make.gauge(
      'database_connected',
      '1 while the node can reach PostgreSQL, 0 while it cannot.',
      [],
    ),
    natsConnected: make.gauge('nats_connected', '1 while the node is connected to NATS.', []),
    natsDisconnects: make.counter(
      'nats_disconnects_total',
      'Times that the connection to NATS was lost.',
      [],
    ),
    statementSeconds: make.histogram(
      'database_statement_seconds',
      'Time of a statement, with the wait for a connection if it is one by itself.',
      [],
    ),
    connectionWaitSeconds: make.histogram(
      'database_connection_wait_seconds',
      'Wait of a transaction for a connection of the pool.',
      [],
    ),
    traceSpans: make.counter(
      'trace_spans_total',
      'Spans of traces that the collector took (sent), that it did not take (failed), or that found too many before them (dropped).',
      ['fate'],
    ),
    buildInfo: make.gauge(
      'build_info',
      '1; the version of the node and the newest migration that it knows.',
      ['version', 'schema'],
    ),
  };
}

/**
 * Read from the database by nodes of every role, so that the living tell of the dead. Times, not ages: what nobody
 * updates any more grows old by itself.
 */
function freshnessMetrics(make: Makers) {
  return {
    sourceLastReceived: make.gauge(
      'source_last_received_timestamp_seconds',
      'Until when a source that has rules was heard.',
      ['source'],
    ),
    matchedThrough: make.gauge(
      'matched_through_timestamp_seconds',
      'Until when everything that was heard has been matched.',
      [],
    ),
  };
}

function requestMetrics(make: Makers) {
  return {
    requests: make.counter('http_requests_total', 'HTTP requests.', ['operation', 'status']),
    requestSeconds: make.histogram('http_request_seconds', 'Time to answer a request.', ['operation']),
    workerFailures: make.counter('worker_failures_total', 'Failures of supervised workers.', ['worker']),
  };
}

function logMetrics(make: Makers) {
  return {
    eventsLogged: make.counter('events_logged_total', 'Events acknowledged by the event log.', ['platform']),
    eventLoggedSeconds: make.histogram(
      'event_logged_seconds',
      'From the receipt of an item to its acknowledgement by the event log.',
      ['platform'],
    ),
    eventStoredSeconds: make.histogram(
      'event_stored_seconds',
      'From the receipt of an item to the commit of its matches: from then on they are listed.',
      ['platform'],
    ),
    logBytes: make.gauge('event_log_bytes', 'Size of the event log; a full log refuses events.', []),
    logBytesMax: make.gauge('event_log_bytes_max', 'Size at which the event log is full.', []),
    logWaiting: make.gauge(
      'event_log_waiting',
      'Messages in the log that are not matched yet, each of up to 64 events.',
      [],
    ),
    logCopiesBehind: make.gauge(
      'event_log_copies_behind',
      'Copies of the event log that are offline or not up to date.',
      [],
    ),
    logCheckedThrough: make.gauge(
      'event_log_checked_through',
      'Sequence up to which every logged event is known to be dealt with.',
      [],
    ),
    logHoles: make.counter(
      'event_log_holes_total',
      'Messages that the log left out (found) or a restored database had forgotten, and what became of them.',
      ['fate'],
    ),
    eventLogLosses: make.counter(
      'event_log_losses_total',
      'Times that the event log was found lost, replaced or in an earlier state.',
      ['fate'],
    ),
    matchLogWentBack: make.counter(
      'match_log_went_back_total',
      'Times that this node saw the match log in an earlier state than before: the database was restored.',
      [],
    ),
    deadLetters: make.counter('dead_letters_total', 'Events that could not be stored.', []),
    partitionDaysAhead: make.gauge(
      'partition_days_ahead',
      'Days from today for which there are partitions.',
      [],
    ),
    itemsDropped: make.counter('items_dropped_total', 'Upstream items dropped.', ['platform', 'reason']),
  };
}

function sourceMetrics(make: Makers) {
  return {
    streamLive: make.gauge('stream_live', '1 while the stream of a source is open.', ['source']),
    streamEndings: make.counter('stream_endings_total', 'How upstream streams ended.', ['platform', 'kind']),
    sourceState: make.gauge('source_state', '1 for the state that a source is in.', ['source', 'state']),
    sourceQuiet: make.gauge('source_quiet', '1 while an open stream brings far less than usual.', ['source']),
    connects: make.counter('connects_total', 'Attempts to open an upstream stream.', ['platform']),
    ruleCallFailures: make.counter('rule_call_failures_total', 'Failed upstream rule calls.', ['source']),
    foreignRules: make.gauge('foreign_rules', 'Upstream rules that are not ours, at the last look.', [
      'source',
    ]),
  };
}

function matchMetrics(make: Makers) {
  return {
    matchesStored: make.counter('matches_stored_total', 'Matches stored for the first time.', ['platform']),
    unexplained: make.counter(
      'unexplained_total',
      'Matches that the platform delivered and our evaluator denies, per operator that decides it.',
      ['platform', 'operator'],
    ),
    matchStreams: make.gauge('match_streams', 'Streams of matches that callers have open.', []),
    matchStreamEndings: make.counter('match_stream_endings_total', 'How streams of matches ended.', [
      'ending',
    ]),
    matchFollowedSeconds: make.histogram(
      'match_followed_seconds',
      'From the storing of a match to its arrival at those who follow on this node.',
      [],
    ),
    matchBatchSeconds: make.histogram(
      'match_batch_seconds',
      'From taking a batch of events to its commit.',
      [],
    ),
  };
}

function webhookMetrics(make: Makers) {
  return {
    webhooks: make.gauge('webhooks', 'Webhooks by state; those that fail are not among the active ones.', [
      'state',
    ]),
    webhooksTriedThrough: make.gauge(
      'webhooks_tried_through_timestamp_seconds',
      'Until when every match has been tried at the webhooks whose endpoints work.',
      [],
    ),
    webhooksFailingSince: make.gauge(
      'webhooks_failing_since_timestamp_seconds',
      'Since when the endpoint fails that has failed longest; now, when none does.',
      [],
    ),
    webhookAttempts: make.counter('webhook_attempts_total', 'Webhook attempts.', ['outcome']),
    digestAttempts: make.counter('digest_attempts_total', 'Attempts to send an issue of a digest.', [
      'outcome',
    ]),
    webhookAttemptSeconds: make.histogram('webhook_attempt_seconds', 'Duration of webhook attempts.', []),
    webhookWaitSeconds: make.histogram(
      'webhook_wait_seconds',
      'From the storing of a match, or from the turn of its webhook if that is later, to the first attempt.',
      [],
    ),
    webhookMatchesParked: make.counter(
      'webhook_matches_parked_total',
      'Matches that an endpoint refused while it accepted others.',
      [],
    ),
    webhookSecretsUnreadable: make.gauge(
      'webhook_secrets_unreadable',
      'Webhooks whose secret this node cannot read with EARSHOT_SECRETS_KEY.',
      [],
    ),
    webhooksDisabled: make.counter('webhooks_disabled_total', 'Webhooks that were given up.', ['because']),
  };
}

/** Read from the database by nodes with the role `match`: totals since ever, the same on each of them. */
function billMetrics(make: Makers) {
  return {
    billed: make.gauge('billed_total', 'What the upstreams billed, at the least and at the most.', [
      'source',
      'kind',
      'reading',
    ]),
    costUsd: make.gauge('cost_usd_total', 'The same in US dollars.', ['source', 'reading']),
    installationBilled: make.gauge(
      'installation_billed_usd',
      'What all sources together were billed in this UTC day or month, at the highest reading; only where it is capped.',
      ['period'],
    ),
    usageDifference: make.gauge(
      'usage_difference',
      'What the upstream itself counted on the last day that was compared, minus what was counted here.',
      ['source', 'reading'],
    ),
  };
}

function makers(registry: Registry) {
  const registers = [registry];
  // 0.25, 2 and 5 s are promises (docs/operations/monitoring.md).
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
