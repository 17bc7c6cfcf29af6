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

/** One registry per process, handed down from the composition root. Ids never become labels. */
export function createMetrics() {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const make = makers(registry);
  const metrics = {
    registry,
    ...requestMetrics(make),
    ...logMetrics(make),
    ...sourceMetrics(make),
    ...matchMetrics(make),
    ...webhookMetrics(make),
    ...billMetrics(make),
  };
  for (const ending of streamEndings) metrics.matchStreamEndings.inc({ ending }, 0);
  for (const outcome of ['delivered', 'failed', 'refused', 'gone', 'not_sent']) {
    metrics.webhookAttempts.inc({ outcome }, 0);
  }
  for (const because of ['gone', 'failing']) metrics.webhooksDisabled.inc({ because }, 0);
  for (const fate of ['found', 'forgotten', 'recovered', 'lost']) metrics.logHoles.inc({ fate }, 0);
  for (const fate of ['lost', 'replaced', 'went_back']) metrics.eventLogLosses.inc({ fate }, 0);
  for (const platform of platforms) {
    for (const reason of dropReasons) metrics.itemsDropped.inc({ platform, reason }, 0);
    metrics.eventsLogged.inc({ platform }, 0);
    metrics.matchesStored.inc({ platform }, 0);
    metrics.ruleCallFailures.inc({ platform }, 0);
    metrics.ruleCallsPostponed.inc({ platform }, 0);
  }
  return metrics;
}

type Makers = ReturnType<typeof makers>;

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
    logBytes: make.gauge('event_log_bytes', 'Size of the event log; a full log refuses events.', []),
    logBytesMax: make.gauge('event_log_bytes_max', 'Size at which the event log is full.', []),
    logWaiting: make.gauge('event_log_waiting', 'Events in the log that are not matched yet.', []),
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
      'Events that the log left out (found) or a restored database had forgotten, and what became of them.',
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
    slotsFreed: make.counter('slots_freed_total', 'Dead connections that were ended to free their slot.', []),
    ruleCallFailures: make.counter('rule_call_failures_total', 'Failed upstream rule calls.', ['platform']),
    ruleCallsPostponed: make.counter(
      'rule_calls_postponed_total',
      'Rule calls put off because the upstream allows no more at the moment.',
      ['platform'],
    ),
    foreignRules: make.gauge('foreign_rules', 'Upstream rules that are not ours, at the last look.', [
      'source',
    ]),
  };
}

function matchMetrics(make: Makers) {
  return {
    postsSearched: make.counter(
      'posts_searched_total',
      'Posts that searches of gaps returned; each costs money.',
      [],
    ),
    matchesStored: make.counter('matches_stored_total', 'Matches stored for the first time.', ['platform']),
    unexplained: make.counter('unexplained_total', 'Upstream verdicts that our evaluator denies.', [
      'platform',
      'operator',
    ]),
    verdicts: make.counter(
      'verdicts_total',
      'Verdicts of our evaluator on sampled items, compared with the upstream, per operator that decides them.',
      ['platform', 'operator', 'outcome'],
    ),
    matchStreams: make.gauge('match_streams', 'Streams of matches that callers have open.', []),
    matchStreamEndings: make.counter('match_stream_endings_total', 'How streams of matches ended.', [
      'ending',
    ]),
    estimateRatio: make.ratios(
      'estimate_ratio',
      'What a rule brought, divided by what was estimated before it was created.',
      ['basis', 'days'],
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
    webhookAttempts: make.counter('webhook_attempts_total', 'Webhook attempts.', ['outcome']),
    webhookAttemptSeconds: make.histogram('webhook_attempt_seconds', 'Duration of webhook attempts.', []),
    webhookMatchesParked: make.counter(
      'webhook_matches_parked_total',
      'Matches that an endpoint refused while it accepted others.',
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

const ratioBuckets = [0.1, 0.25, 0.5, 0.7, 0.85, 1, 1.15, 1.3, 2, 4, 10];

function makers(registry: Registry) {
  const registers = [registry];
  const buckets = [0.005, 0.02, 0.1, 0.5, 2, 10, 30];
  return {
    counter: <Label extends string>(name: string, help: string, labelNames: readonly Label[]) =>
      new Counter({ name: `earshot_${name}`, help, labelNames, registers }),
    gauge: <Label extends string>(name: string, help: string, labelNames: readonly Label[]) =>
      new Gauge({ name: `earshot_${name}`, help, labelNames, registers }),
    /** Of quotients that should be near 1. */
    ratios: <Label extends string>(name: string, help: string, labelNames: readonly Label[]) =>
      new Histogram({ name: `earshot_${name}`, help, labelNames, buckets: ratioBuckets, registers }),
    histogram: <Label extends string>(name: string, help: string, labelNames: readonly Label[]) =>
      new Histogram({ name: `earshot_${name}`, help, labelNames, buckets, registers }),
  };
}
