import { inFile, type Mutation } from './mutation.ts';

const server = 'apps/server/src';
const sight = ['apps/server/test/sight.int.test.ts'];
const readiness = ['apps/server/test/readiness.int.test.ts'];
const telemetry = [`${server}/observability/telemetry.unit.test.ts`];
const alerts = [`${server}/observability/alerts.unit.test.ts`];
const dashboard = ['e2e/dashboard.nightly.test.ts'];
const traces = [`${server}/observability/traces.unit.test.ts`];
const spanExport = [`${server}/observability/span-export.unit.test.ts`];
const checkLog = `${server}/matching/check-log.ts`;
const lostLog = ['apps/server/test/lost-log.int.test.ts'];

/** Metrics, alerts, traces and what refuses to start: what an operator sees. */
export const sightMutations: readonly Mutation[] = [
  ...inFile(`${server}/coverage/freshness-metrics.ts`, sight, [
    [
      'a source counts as heard while it is only proven',
      'coalesce(heard_until, proven_until)',
      'proven_until',
    ],
    ['the first interval of a source counts', 'order by from_at desc, id desc', 'order by from_at, id'],
    ['the last registration of a source counts', 'order by 1 limit 1', 'order by 1 desc limit 1'],
    ['a source without rules is told', " and state = 'registered'", ''],
    ['a source that is gone stays', 'metrics.sourceHeard.reset();', ''],
    ['nobody tells how far matching is', 'metrics.matchedThrough.set(progress.through);', ';'],
  ]),
  ...inFile(`${server}/webhooks/backlog-metrics.ts`, sight, [
    ['the endpoint that failed last counts', 'min(failing_since)', 'max(failing_since)'],
    [
      'a paused webhook counts as failing',
      "when state = 'active' and failing_since is not null",
      'when failing_since is not null',
    ],
    ['an endpoint fails since 1970 when none does', '?? nowMs() / 1000', '?? 0'],
    ['the last webhook counts', 'through = Math.min(through, ', 'through = ('],
    ['a webhook waits before its turn', 'Math.max(storedMs, due_at.getTime())', 'Math.max(storedMs, 0)'],
    ['endpoints in trouble hold it back', 'not troubled and', ''],
    ['webhooks that somebody sends to hold it back', `where \${isFree} and`, 'where'],
    ['webhooks for notices hold it back', "and 'matches' = any(events)", ''],
  ]),
  ...inFile(`${server}/engines/database.ts`, sight, [
    ['idle connections count as busy', 'pool.totalCount - pool.idleCount', 'pool.totalCount'],
    ['nobody counts who waits for a connection', 'waiting: pool.waitingCount', 'waiting: 0'],
    ['waits for a connection are not measured', 'waited?.();', ''],
    [
      'statements are measured in milliseconds',
      'observe((performance.now() - startedAt) / 1000)',
      'observe(performance.now() - startedAt)',
    ],
  ]),
  ...inFile(`${server}/observability/telemetry.ts`, readiness, [
    ['a lost connection to NATS is not told', 'set(isConnected ? 1 : 0)', 'set(1)'],
    ['lost connections to NATS are not counted', 'metrics.natsDisconnects.inc();', ''],
  ]),
  ...inFile(`${server}/compose/shared.ts`, readiness, [
    ['a node tells no connection to NATS', 'metrics.natsConnected.set(1);', ''],
  ]),
  ...inFile(`${server}/observability/telemetry.ts`, telemetry, [
    [
      'the way to the list is measured in milliseconds',
      'eventStoredSeconds.observe({ platform }, Math.max(0, ms) / 1000)',
      'eventStoredSeconds.observe({ platform }, Math.max(0, ms))',
    ],
    [
      'the way to followers may be negative',
      'matchFollowedSeconds.observe(Math.max(0, ms) / 1000)',
      'matchFollowedSeconds.observe(ms / 1000)',
    ],
  ]),
  ...inFile(`${server}/observability/metrics.ts`, telemetry, [
    ['a share has nothing to divide by', 'metrics.eventStoredSeconds.zero({ platform });', ''],
  ]),
  ...inFile(`${server}/observability/metrics.ts`, alerts, [
    ['the promise of 2 s has no bucket', '0.5, 1, 2, 5, 10', '0.5, 1, 5, 10'],
  ]),
  ...inFile('deploy/alerts.yaml', alerts, [
    [
      'an alert waits for a state that there is not',
      'degraded|rules_invalid"}) == 1',
      'degraded|rules_valid"}) == 1',
    ],
    ['an alert asks for a label that there is not', 'holes_total{fate="found"}', 'holes_total{kind="found"}'],
  ]),
  ...inFile(`${server}/matching/match-worker.ts`, dashboard, [
    ['the way to the list is not measured', 'else if (receivedMs !== undefined &&', 'else if (false &&'],
  ]),
  ...inFile(`${server}/webhooks/deliver-batch.ts`, dashboard, [
    ['the wait for a webhook is not measured', 'options.telemetry.webhookFirstTried(', 'void ('],
  ]),
  ...inFile(`${server}/observability/traces.ts`, traces, [
    [
      'every process has traces of its own',
      `hash('sha256', \`\${installation} \${platform} \${key}\`)`,
      `hash('sha256', \`\${installation} \${platform} \${key} \${process.pid} \${Math.random()}\`)`,
    ],
    ['an attempt at a webhook has no parent', 'parentId: storeSpanId(traceId, matchId),', 'parentId: null,'],
  ]),
  ...inFile(`${server}/observability/span-export.ts`, spanExport, [
    [
      'every process samples by chance',
      'sampler.shouldSample(noParent, traceId).decision === SamplingDecision.RECORD_AND_SAMPLED',
      'Math.random() < ratio',
    ],
    ['spans wait without a bound', "if (waiting >= waitingMax) return count('dropped', 1);", ''],
    ['the collector may hang for long', 'timeoutMillis: sendWithinMs,', 'timeoutMillis: 1_000_000,'],
  ]),
  ...inFile(
    `${server}/webhooks/deliver-batch.ts`,
    ['e2e/traces.nightly.test.ts'],
    [
      [
        'the way to the webhook is not traced',
        'await traceAttempt(options, leased, { ...next, attempt, startMs, endMs });',
        '',
      ],
    ],
  ),
  ...inFile(
    `${server}/http/server.ts`,
    ['e2e/proxy.nightly.test.ts'],
    [
      [
        'everybody may say in X-Forwarded-For who called',
        'trustProxy: [...options.trustedProxies],',
        'trustProxy: true,',
      ],
    ],
  ),
  ...inFile(
    `${server}/engines/installation.ts`,
    ['e2e/pgbouncer.nightly.test.ts'],
    [
      ['a pool that ignores our settings is used', 'if (!row?.kept) throw new Error(pooled);', ''],
      [
        'a pool that refuses our settings is not named',
        'if (error instanceof Failure && isProtocolViolation(error.cause)) throw new Error(pooled);',
        '',
      ],
    ],
  ),
  ...inFile(
    'apps/cli/src/commands/admin-command.ts',
    ['e2e/admin.e2e.test.ts'],
    [
      [
        'the command line of operators reads no address from a file',
        "readSetting('databaseUrl', env)",
        "env['EARSHOT_DATABASE_URL']",
      ],
    ],
  ),
  ...inFile(checkLog, lostLog, [
    [
      'a check that another node has overtaken finds holes',
      'greatest(checked_through, $1::bigint)',
      '$1::bigint',
    ],
  ]),
  ...inFile(`${server}/coverage/lost-log.ts`, lostLog, [
    [
      'a log that grew between two looks went back',
      "fateOf(bound, seen) === 'same' ? seen : await readLog()",
      'seen',
    ],
  ]),
];
