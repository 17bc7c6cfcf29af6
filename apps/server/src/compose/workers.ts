import { forgetConsoleSessions } from '../accounts/console-sessions.ts';
import { createClaimStore } from '../accounts/idempotency.ts';
import { createAlertStep } from '../alerts/alert-worker.ts';
import { createAlertStore } from '../alerts/alerts.sql.ts';
import { showBill } from '../billing/bill-metrics.ts';
import { compareUsage } from '../billing/compare-usage.ts';
import { forgetBilled } from '../billing/meter.sql.ts';
import { forgetMarks } from '../budgets/budgets.sql.ts';
import { capStream } from '../budgets/cap-stream.ts';
import type { InstallationBudget } from '../budgets/installation-budget.ts';
import { notifyUnusualRates } from '../budgets/notify-unusual-rates.ts';
import { resumeAfterBudget } from '../budgets/resume-after-budget.ts';
import { createBudgetWatch } from '../budgets/watch-budgets.ts';
import type { RoleName } from '../config/values.ts';
import { createCoverageStore } from '../coverage/coverage-store.sql.ts';
import { forgetLedger } from '../coverage/forget-ledger.ts';
import { showFreshness } from '../coverage/freshness-metrics.ts';
import { createGapNotifier } from '../coverage/notify-gaps.ts';
import { createMatchedThrough, recordMatchedThrough } from '../coverage/progress.ts';
import { isRecoverable, recoverGap } from '../coverage/recover-gap.ts';
import { repairGap } from '../coverage/repair-gap.ts';
import { createRepairStore } from '../coverage/repair-store.sql.ts';
import { createRepairWorker } from '../coverage/repair-worker.ts';
import { settleReplayed } from '../coverage/replay.ts';
import { type Database, nodeConnections, openDatabase } from '../engines/database.ts';
import { createLeaseStore, everyUnderLease, type LeasedWorkerOptions } from '../engines/leases.ts';
import { forgetCounts } from '../estimates/platform-counts.sql.ts';
import { claimEventLog, readEventLog } from '../event-log/bound-log.ts';
import { createEventConsumer } from '../event-log/event-consumer.ts';
import { createLogCopies } from '../event-log/log-copies.ts';
import { createMatchProgress, readLastEvent } from '../event-log/log-progress.ts';
import { createLogSpace } from '../event-log/log-space.ts';
import { createCoverageIntervals } from '../ingest/coverage-intervals.sql.ts';
import { createIngestWorker } from '../ingest/ingest-worker.ts';
import { createSourceStore } from '../ingest/source-store.sql.ts';
import { createJudgeClient } from '../judge/judge-client.ts';
import { createJudgeStore } from '../judge/judge-store.sql.ts';
import { createCompareStep, createJudgeStep } from '../judge/judge-worker.ts';
import { createCheckLog, createSettledStore } from '../matching/check-log.ts';
import { createDeadLetters, retryDeadLetters } from '../matching/dead-letters.ts';
import { createMatchStore } from '../matching/match-store.sql.ts';
import { createMatchWorker, storeBatch } from '../matching/match-worker.ts';
import { keepPartitionsAhead, newestEventDay } from '../matching/partitions.ts';
import { purgeDeletedRules } from '../matching/purge-deleted-rules.ts';
import { removeExpiredDays } from '../matching/retention.ts';
import { forgetNotices } from '../notices/notice-log.sql.ts';
import { forgetArtefacts } from '../oauth/artefacts.sql.ts';
import { createMatchReader } from '../readers/match-reader.sql.ts';
import { removeOrphans } from '../relevance/relevance.sql.ts';
import { checkKeptItems } from '../removals/check-kept-items.ts';
import { createDeletions } from '../removals/deletions.ts';
import { createRuleExpiry, pauseExpiredRules } from '../rules/expiry.ts';
import { createOldSlots, releaseOldSlots } from '../rules/release-old-slots.ts';
import { createRuleStore } from '../rules/rule-store.sql.ts';
import { undoAbandoned } from '../rules/undo-abandoned.ts';
import { every, type Worker } from '../runtime/worker.ts';
import { createRegistrarStore } from '../slots/registrar.sql.ts';
import { createDrainWorker, createRegistrarWorker } from '../slots/registrar-worker.ts';
import type { Source } from '../upstream/platform.ts';
import { platforms } from '../upstream/platforms.ts';
import { showBacklog } from '../webhooks/backlog-metrics.ts';
import { deliverWorkers } from './deliveries.ts';
import { eventsStreamOptions, noteIdleError, type Shared } from './shared.ts';
import {
  cappingOf,
  drainWithoutTokens,
  installationBudgetOf,
  openEventLog,
  openSources,
  type SourceWithoutToken,
} from './sources.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
/** As often as docs/operations/monitoring.md recommends to read the metrics. */
const freshnessEveryMs = 10_000;
/** A new match waits no longer for its verdict, besides the answer of the judge. */
const judgeEveryMs = 500;
const syncClockEveryMs = 10_000;

/** The workers of each role. The API itself is a server, not a worker; its role has the workers that it needs. */
export async function workersOf(
  shared: Shared,
  stack: AsyncDisposableStack,
  roles: readonly RoleName[],
): Promise<Worker[]> {
  const owner = ownerDatabase(shared, stack);
  const budget = installationBudgetOf(shared);
  const byRole: Record<RoleName, () => Promise<Worker[]>> = {
    api: async () => ruleWorkers(shared),
    ingest: async () => {
      const sources = await openSources(shared, stack);
      return [
        ...sources.flatMap((source) => sourceWorkers(shared, source, { owner, budget })),
        ...(await drainWithoutTokens(shared, sources)).map((source) => drainWorker(shared, source)),
      ];
    },
    match: async () => [...matchWorkers(shared, owner), ...judgeWorkers(shared, stack)],
    deliver: () => deliverWorkers(shared, stack),
  };
  const workers = await Promise.all(roles.map((role) => byRole[role]()));
  const reader = createMatchReader(shared.database);
  const showAll = async () => {
    await showFreshness(shared);
    await showBacklog({ ...shared, reader });
  };
  return [
    every('database-clock', syncClockEveryMs, async () => {
      const { aheadMs } = await shared.clock.sync();
      shared.metrics.clockOffset.set(aheadMs / 1000);
    }),
    every('freshness', freshnessEveryMs, showAll),
    ...workers.flat(),
  ];
}

/** On every node: they work under the lock of the rule. */
function ruleWorkers(shared: Shared): Worker[] {
  const { database } = shared;
  const store = createRuleStore(database, shared.config);
  const expiring = { ...shared, store: createRuleExpiry(database, shared.config) };
  const releasing = { ...shared, store: createOldSlots(database) };
  const claims = createClaimStore(database);
  return [
    every('forget-counts', hourMs, () => forgetCounts(database)),
    every('undo-abandoned', 5_000, () => undoAbandoned({ ...shared, store })),
    every('rule-expiry', 1_000, () => pauseExpiredRules(expiring)),
    every('release-old-slots', 1_000, () => releaseOldSlots(releasing)),
    every('forget-console-sessions', minuteMs, () => forgetConsoleSessions(database)),
    every('forget-oauth', minuteMs, () => forgetArtefacts(database)),
    every('forget-idempotency-keys', minuteMs, async () => (await claims.forgetSome()) > 0),
  ];
}

/** Each source has one registrar and one listener in the installation, because they hold a lease. */
function sourceWorkers(
  shared: Shared,
  source: Source,
  { owner, budget }: { owner: Database; budget: InstallationBudget | null },
): Worker[] {
  const { config, database } = shared;
  const common = {
    ...shared,
    ...leasesOf(shared),
    installation: shared.installation.id,
    sourceId: source.id,
    platform: source.platform,
  };
  const deletions = platforms[source.platform].reportsDeletions
    ? createDeletions({ ...common, database: owner, progress: createMatchProgress(shared.nats) })
    : null;
  return [
    ...(deletions ? [every(`deletions:${source.id}`, 1_000, () => deletions.flush())] : []),
    createRegistrarWorker({
      ...common,
      upstream: source.rules,
      store: createRegistrarStore(database, { ruleDelayMs: platforms[source.platform].ruleDelayMs(config) }),
      accountShare: config.accountSharePercent / 100,
    }),
    createIngestWorker({
      ...common,
      upstream: budget ? capStream(source.stream, cappingOf(shared, source, budget)) : source.stream,
      protocol: source.protocol,
      endStaleConnections: source.endStaleConnections,
      sources: createSourceStore(database),
      intervals: createCoverageIntervals(database),
      deletions,
      eventLog: openEventLog(shared, budget),
      nowMs: shared.clock.nowMs,
      random: Math.random,
    }),
    ...repairWorkers(shared, source, budget),
    ...complianceWorkers(shared, source, owner),
    ...usageWorkers(shared, source),
  ];
}

function drainWorker(shared: Shared, { id: sourceId, ruleDelayMs }: SourceWithoutToken): Worker {
  const store = createRegistrarStore(shared.database, { ruleDelayMs });
  return createDrainWorker({ ...shared, ...leasesOf(shared), sourceId, store });
}

function usageWorkers(shared: Shared, { id: sourceId, platform, readUsage }: Source): Worker[] {
  if (readUsage === null) return [];
  const options = { ...shared, sourceId, platform, readUsage, nowMs: shared.clock.nowMs };
  return [
    everyUnderLease(leasesOf(shared), `usage:${sourceId}`, hourMs, (_lease, signal) =>
      compareUsage(options, signal),
    ),
  ];
}

/** One per platform: each source could request everything. Only the owner may remove items. */
function complianceWorkers(shared: Shared, { platform, compliance }: Source, owner: Database): Worker[] {
  if (compliance === null) return [];
  return [
    everyUnderLease(leasesOf(shared), `compliance:${platform}`, hourMs, (_lease, signal) =>
      checkKeptItems({ ...shared, database: owner, platform, compliance }, signal),
    ),
  ];
}

/** Under separate leases: a slow search must not delay the stream. */
function repairWorkers(
  shared: Shared,
  { id: sourceId, platform, repair }: Source,
  budget: InstallationBudget | null,
): Worker[] {
  const { config, database, nats } = shared;
  const common = { ...shared, sourceId, platform, store: createRepairStore(database) };
  switch (repair.by) {
    case 'nothing':
      return [];
    case 'replay': {
      const replayed = { ...common, repair, lastEvent: (id: string) => readLastEvent(nats, id) };
      return [
        everyUnderLease(leasesOf(shared), `replay:${sourceId}`, 1_000, (lease) =>
          settleReplayed(replayed, lease),
        ),
      ];
    }
    case 'fetching': {
      const pace = config.upstreamPace;
      const fetching = {
        ...common,
        ...repair,
        eventLog: openEventLog(shared, budget),
        installation: shared.installation.id,
        nowMs: shared.clock.nowMs,
        pace,
      };
      const { recovery } = repair;
      return [
        createRepairWorker({
          ...common,
          ...leasesOf(shared),
          pace,
          repair: async (work, signal) => {
            if ((await budget?.read())?.reached) return false;
            return recovery && isRecoverable(work.gap, recovery, shared.clock.nowMs())
              ? await recoverGap({ ...fetching, recovery }, work, signal)
              : await repairGap(fetching, work, signal);
          },
        }),
      ];
    }
  }
}

/** One transaction runs while the next batch is read. */
const matchWorkersPerNode = 2;

function matchWorkers(shared: Shared, owner: Database): Worker[] {
  const { config, database, nats, telemetry, traces } = shared;
  const leases = leasesOf(shared);
  const forBatches = {
    ...shared,
    installation: shared.installation.id,
    store: createMatchStore(database, { retentionDays: config.retentionDays, traces }),
  };
  const letters = createDeadLetters(database);
  const settled = createSettledStore(database);
  const progress = {
    store: createMatchedThrough(database),
    progress: createMatchProgress(nats),
    readLog: () => readEventLog(nats),
    makeLog: () => claimEventLog(database, nats, eventsStreamOptions(config, nats)),
    telemetry,
  };
  const space = createLogSpace(nats, () => settled.lastChecked());
  const judgeAlerts = createAlertStep({
    ...shared,
    store: createAlertStore(database),
    coverage: createCoverageStore(database),
    prices: config.prices,
    nowMs: shared.clock.nowMs,
  });
  const checkLog = createCheckLog({
    telemetry,
    log: createLogCopies(nats),
    settled,
    store: (batch) => storeBatch(forBatches, batch),
    nowMs: () => performance.now(),
  });
  return [
    ...Array.from({ length: matchWorkersPerNode }, (_, index) =>
      createMatchWorker({
        ...forBatches,
        name: `match:${index + 1}`,
        consumer: createEventConsumer(nats),
      }),
    ),
    every('dead-letters', 5_000, () => retryDeadLetters({ ...forBatches, letters })),
    every('bill-metrics', 15_000, () => showBill({ ...shared, prices: config.prices })),
    every('partitions', hourMs, () => keepPartitionsAhead(shared)),
    every('matched-through', 1_000, (signal) => recordMatchedThrough(progress, signal)),
    every('purge', 10_000, () => purgeDeletedRules(shared)),
    // One in the installation: a second one would find the same gaps, which are stored once anyway.
    everyUnderLease(leases, 'check-log', 1_000, () => checkLog()),
    // A full log refuses new events. While there is room, matched events stay for three days.
    every('make-room', 5_000, async () => telemetry.logSpace(await space.makeRoom())),
    ...budgetWorkers(shared),
    everyUnderLease(leases, 'gap-notices', 5_000, createGapNotifier(shared)),
    everyUnderLease(leases, 'unusual-rates', 30_000, () => notifyUnusualRates(shared)),
    everyUnderLease(leases, 'alerts', minuteMs, (_lease, signal) => judgeAlerts(signal)),
    everyUnderLease(leases, 'retention', hourMs, async () => {
      await removeExpiredDays({ ...shared, database: owner, retentionDays: config.retentionDays });
      await forgetLedger(owner, config.retentionDays);
      await forgetBilled(owner);
      await forgetMarks(owner);
      await removeOrphans(owner);
      const newestDay = await newestEventDay(owner);
      await forgetNotices(owner, { newestDay, retentionDays: config.retentionDays });
    }),
  ];
}

/** One in the installation: two would call the judge twice for the same match. */
function judgeWorkers(shared: Shared, stack: AsyncDisposableStack): Worker[] {
  const { config, database, telemetry, bells } = shared;
  const { judgeUrl: url, judgeModel: model, judgeKey: key } = config;
  if (url === undefined || model === undefined) return [];
  const options = {
    database,
    store: createJudgeStore(database, model),
    client: stack.use(createJudgeClient({ url, model, key })),
    prices: config.judgePrice,
    usdPerDay: config.judgeUsdPerDay,
    reader: createMatchReader(database),
    bells,
    telemetry,
    nowMs: shared.clock.nowMs,
  };
  const leases = leasesOf(shared);
  const judge = createJudgeStep(options);
  const compare = createCompareStep(options);
  return [
    everyUnderLease(leases, 'judge', judgeEveryMs, async (_lease, signal) => {
      while (!signal.aborted && (await judge(signal)));
    }),
    everyUnderLease(leases, 'judge-compare', minuteMs, (_lease, signal) => compare(signal)),
  ];
}

function budgetOptions(shared: Shared) {
  const { prices, ruleBudget } = shared.config;
  return { ...shared, prices, ruleBudget, now: () => new Date(shared.clock.nowMs()) };
}

/** On every node: rows decide which node notifies, and the rule's lock which node pauses and resumes it. */
function budgetWorkers(shared: Shared): Worker[] {
  const { config, database } = shared;
  const common = budgetOptions(shared);
  const resuming = {
    ...common,
    store: createRuleStore(database, config),
    pricing: config,
    contact: config.supportContact,
  };
  return [
    every('watch-budgets', 1_000, createBudgetWatch(common)),
    every('resume-after-budget', 1_000, () => resumeAfterBudget(resuming)),
  ];
}

/**
 * Only the owner of a table may detach and drop a partition, and remove items. Separate connections without a statement timeout: a
 * day is detached after all transactions that saw it are over.
 */
function ownerDatabase({ config, log, metrics }: Shared, stack: AsyncDisposableStack): Database {
  const url = config.migrationDatabaseUrl ?? config.databaseUrl;
  const onIdleError = noteIdleError(log);
  const measure = { name: 'owner', metrics };
  const connectionsMax = nodeConnections.owner;
  return stack.use(openDatabase({ url, connectionsMax, statementTimeoutMs: 0, onIdleError, measure }));
}

function leasesOf({ config, database, node, log }: Shared): LeasedWorkerOptions {
  return { leases: createLeaseStore(database), leaseTtlMs: config.leaseTtlMs, node, log };
}
