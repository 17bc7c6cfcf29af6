import { createClaimStore } from '../accounts/claim-store.ts';
import type { RoleName } from '../config.ts';
import { createMatchedThrough } from '../coverage/matched-through.sql.ts';
import { recordMatchedThrough } from '../coverage/matched-through.ts';
import { isRecoverable, recoverGap } from '../coverage/recover-gap.ts';
import { repairGap } from '../coverage/repair-gap.ts';
import { createRepairStore, readLatestInterval } from '../coverage/repair-store.sql.ts';
import { createRepairWorker, type RepairWorkerOptions } from '../coverage/repair-worker.ts';
import { settleReplayed } from '../coverage/replay.ts';
import { createLeaseStore, everyUnderLease, type LeasedWorkerOptions } from '../engines/leases.ts';
import { createCheckedLog } from '../event-log/checked-log.ts';
import { createEventLog } from '../event-log/event-log.ts';
import { createEventSource } from '../event-log/event-source.ts';
import { readLastEvent } from '../event-log/last-event.ts';
import { createLogSpace } from '../event-log/log-space.ts';
import { createMatchProgress } from '../event-log/match-progress.ts';
import { createConnectorStore } from '../ingest/connector-store.sql.ts';
import { createIngestWorker } from '../ingest/ingest-worker.ts';
import { createSourceStore } from '../ingest/source-store.sql.ts';
import { createCheckLog } from '../matching/check-log.ts';
import { createDeadLetters } from '../matching/dead-letters.sql.ts';
import { retryDeadLetters } from '../matching/dead-letters.ts';
import { createMaintenance } from '../matching/maintenance.ts';
import { createMatchStore } from '../matching/match-store.sql.ts';
import { createMatchWorker } from '../matching/match-worker.ts';
import { createRetention } from '../matching/retention.ts';
import { createSettledStore } from '../matching/settled-store.ts';
import { storeBatch } from '../matching/store-batch.ts';
import { createMatchReader } from '../readers/match-reader.sql.ts';
import { createRuleStore } from '../rules/rule-store.sql.ts';
import { createRuleUpkeep, releaseOldSlots, undoAbandonedCreations, upkeepRules } from '../rules/upkeep.ts';
import { every } from '../runtime/every.ts';
import type { Worker } from '../runtime/worker.ts';
import { createRegistrarStore } from '../slots/registrar.sql.ts';
import { createRegistrarWorker } from '../slots/registrar-worker.ts';
import { createDeliverBatch } from '../webhooks/deliver-batch.ts';
import { createDeliverWorker } from '../webhooks/deliver-worker.ts';
import { createDeliveryLog } from '../webhooks/delivery-log.ts';
import { createDeliveryStore } from '../webhooks/delivery-store.sql.ts';
import { openSender, type Shared, secretBoxOf } from './shared.ts';
import { openSources, type Source } from './sources.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** What each role runs. The API itself is a server, not a worker; its role carries what must run beside it. */
export async function workersOf(
  shared: Shared,
  stack: AsyncDisposableStack,
  roles: readonly RoleName[],
): Promise<Worker[]> {
  const byRole: Record<RoleName, () => Promise<Worker[]>> = {
    api: async () => ruleWorkers(shared),
    ingest: async () => (await openSources(shared, stack)).flatMap((source) => sourceWorkers(shared, source)),
    match: async () => matchWorkers(shared),
    deliver: async () => deliverWorkers(shared, stack),
  };
  return (await Promise.all(roles.map((role) => byRole[role]()))).flat();
}

/** They may run on every node: what they do, they do under the lock of the rule. */
function ruleWorkers(shared: Shared): Worker[] {
  const { database, nats } = shared;
  const store = createRuleStore(database);
  const upkeep = { ...shared, store: createRuleUpkeep(database), progress: createMatchProgress(nats) };
  const claims = createClaimStore(database);
  return [
    every('undo-abandoned', 5_000, () => undoAbandonedCreations({ ...shared, store })),
    every('rule-upkeep', 1_000, () => upkeepRules(upkeep)),
    every('release-old-slots', 500, (signal) => releaseOldSlots(upkeep, signal)),
    every('forget-idempotency-keys', minuteMs, async () => (await claims.forgetSome()) > 0),
  ];
}

/** Each source has one registrar and one listener in the whole installation: the lease sees to it. */
function sourceWorkers(shared: Shared, source: Source): Worker[] {
  const { config, database, nats } = shared;
  const common = {
    ...shared,
    ...leasesOf(shared),
    installation: shared.installation.id,
    sourceId: source.id,
    platform: source.platform,
  };
  return [
    createRegistrarWorker({
      ...common,
      upstream: source.rules,
      store: createRegistrarStore(database, { ruleDelayMs: config.xRuleDelayMs }),
    }),
    createIngestWorker({
      ...common,
      upstream: source.stream,
      protocol: source.protocol,
      freeSlot: source.freeSlot,
      connectors: createConnectorStore(database),
      eventLog: createEventLog(nats),
      store: createSourceStore(database),
      random: Math.random,
    }),
    ...repairWorkers(shared, source),
  ];
}

/** Under leases of their own: a slow search must not keep the stream waiting. */
function repairWorkers(shared: Shared, source: Source): Worker[] {
  const { config, database, nats } = shared;
  const common = { ...shared, sourceId: source.id, store: createRepairStore(database) };
  const repair = repairOf(shared, source);
  if (repair)
    return [createRepairWorker({ ...common, ...leasesOf(shared), repair, pace: config.upstreamPace })];
  if (source.repair) return [];
  const replayed = {
    ...common,
    latestInterval: (sourceId: string) => readLatestInterval(database, sourceId),
    lastEvent: (sourceId: string) => readLastEvent(nats, sourceId),
  };
  return [
    everyUnderLease(leasesOf(shared), `replay:${source.id}`, 1_000, (lease) =>
      settleReplayed(replayed, lease),
    ),
  ];
}

/** By recovery where the plan has it, else by searching, as far as that may cost something. */
function repairOf(shared: Shared, { id: sourceId, repair }: Source): RepairWorkerOptions['repair'] | null {
  const { config, database, nats, installation, events } = shared;
  const mayRecover = config.xPlan === 'enterprise';
  if (!repair || !(mayRecover || config.xSearchPostsPerDay > 0)) return null;
  const common = { sourceId, store: createRepairStore(database), eventLog: createEventLog(nats), events };
  return (work, signal) => {
    if (mayRecover && isRecoverable(work.gap, Date.now())) {
      return recoverGap({ ...common, recovery: repair.recovery }, work, signal);
    }
    const searching = { ...common, search: repair.search, installation: installation.id, nowMs: Date.now };
    const limits = { postsPerDay: config.xSearchPostsPerDay, pace: config.upstreamPace };
    return repairGap({ ...searching, ...limits }, work, signal);
  };
}

function matchWorkers(shared: Shared): Worker[] {
  const { config, database, nats, events } = shared;
  const leases = leasesOf(shared);
  const forBatches = {
    ...shared,
    installation: shared.installation.id,
    store: createMatchStore(database, config),
  };
  const letters = createDeadLetters(database);
  const maintenance = createMaintenance(database);
  const retention = createRetention(database, config.retentionDays);
  const settled = createSettledStore(database);
  const progress = { store: createMatchedThrough(database), progress: createMatchProgress(nats) };
  const space = createLogSpace(nats, () => settled.lastChecked());
  const checkLog = createCheckLog({
    events,
    log: createCheckedLog(nats),
    settled,
    store: (batch) => storeBatch(forBatches, batch),
    nowMs: () => performance.now(),
  });
  return [
    ...Array.from({ length: config.matchWorkers }, (_, index) =>
      createMatchWorker({ ...forBatches, name: `match:${index + 1}`, source: createEventSource(nats) }),
    ),
    every('dead-letters', 5_000, () => retryDeadLetters({ ...forBatches, letters })),
    every('partitions', hourMs, async () => {
      // Told before as well, so that it sinks when none can be made.
      events.partitionsAhead(await maintenance.daysAhead());
      await maintenance.ensureAhead();
      events.partitionsAhead(await maintenance.daysAhead());
    }),
    every('matched-through', 1_000, (signal) => recordMatchedThrough(progress, signal)),
    // Matches of deleted rules are hidden at once, and removed a little at a time.
    every('purge', 10_000, async () => {
      const purged = await maintenance.purgeSome();
      events.matchesPurged(purged);
      return purged > 0;
    }),
    // One in the installation; a second one would find the same holes and store them once.
    everyUnderLease(leases, 'check-log', 1_000, () => checkLog()),
    // A full log refuses new events. While there is room, matched events stay for their three days.
    every('make-room', 5_000, async () => events.logSpace(await space.makeRoom())),
    // One in the installation: two that detach the same partition would be in each other's way.
    everyUnderLease(leases, 'retention', hourMs, () =>
      retention.removeExpired((table) => events.dayRemoved({ table })),
    ),
  ];
}

/** Without a key for secrets nobody can have a webhook, or its secret cannot be opened: nothing to do here. */
function deliverWorkers(shared: Shared, stack: AsyncDisposableStack): Worker[] {
  const { config, database } = shared;
  const secretBox = secretBoxOf(config);
  if (secretBox === null) return [];
  const store = createDeliveryStore(database);
  const deliveries = createDeliveryLog(database);
  const nowMs = Date.now;
  const deliver = createDeliverBatch({
    ...shared,
    store,
    reader: createMatchReader(database),
    sender: stack.use(openSender(config)),
    secretBox,
    nowMs,
    random: Math.random,
  });
  return [
    createDeliverWorker({ ...shared, store, deliver, nowMs }),
    every('forget-deliveries', minuteMs, async () => (await deliveries.forgetSome()) > 0),
  ];
}

function leasesOf({ config, database, node, log }: Shared): LeasedWorkerOptions {
  return { leases: createLeaseStore(database), leaseTtlMs: config.leaseTtlMs, node, log };
}
