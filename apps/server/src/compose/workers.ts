import { createCheckedLog } from '../adapters/nats/checked-log.ts';
import { createEventLog } from '../adapters/nats/event-log.ts';
import { createEventSource } from '../adapters/nats/event-source.ts';
import { createLogSpace } from '../adapters/nats/log-space.ts';
import { createMatchProgress } from '../adapters/nats/match-progress.ts';
import { createClaimStore } from '../adapters/postgres/claim-store.ts';
import { createConnectorStore } from '../adapters/postgres/connector-store.ts';
import { createDeadLetters } from '../adapters/postgres/dead-letters.ts';
import { createLeaseStore } from '../adapters/postgres/lease-store.ts';
import { createMaintenance } from '../adapters/postgres/maintenance.ts';
import { createMatchStore } from '../adapters/postgres/match-store.ts';
import { createMatchedThrough } from '../adapters/postgres/matched-through.ts';
import { createRegistrarStore } from '../adapters/postgres/registrar-store.ts';
import { createRetention } from '../adapters/postgres/retention.ts';
import { createRuleStore } from '../adapters/postgres/rule-store.ts';
import { createRuleUpkeep } from '../adapters/postgres/rule-upkeep.ts';
import { createSettledStore } from '../adapters/postgres/settled-store.ts';
import { createSourceStore } from '../adapters/postgres/source-store.ts';
import { createMatchedThroughWorker } from '../coverage/matched-through-worker.ts';
import { createIngestWorker } from '../ingest/ingest-worker.ts';
import { type CheckLogWorkerOptions, createCheckLogWorker } from '../matching/check-log-worker.ts';
import { createDeadLetterWorker } from '../matching/dead-letter-worker.ts';
import { createMakeRoomWorker } from '../matching/make-room-worker.ts';
import { createMatchWorker } from '../matching/match-worker.ts';
import { createPartitionWorker } from '../matching/partition-worker.ts';
import { createPurgeWorker } from '../matching/purge-worker.ts';
import { createRetentionWorker } from '../matching/retention-worker.ts';
import { storeBatch } from '../matching/store-batch.ts';
import type { Roles } from '../roles.ts';
import { createReleaseOldSlotsWorker } from '../rules/release-old-slots-worker.ts';
import { createRuleUpkeepWorker } from '../rules/rule-upkeep-worker.ts';
import { createUndoAbandonedWorker } from '../rules/undo-abandoned-worker.ts';
import { createForgetWorker } from '../runtime/forget-worker.ts';
import type { Worker } from '../runtime/worker.ts';
import { createRegistrarWorker } from '../slots/registrar-worker.ts';
import { repairWorkers } from './repairs.ts';
import type { Shared } from './shared.ts';
import { openSources, type Source } from './sources.ts';
import { deliverWorkers } from './webhooks.ts';

/** Which workers each role runs. */
export function createRoles(shared: Shared, stack: AsyncDisposableStack): Roles {
  return {
    api: async () => [
      ...ruleWorkers(shared),
      createForgetWorker('forget-idempotency-keys', createClaimStore(shared.database)),
    ],
    ingest: async () => (await openSources(shared, stack)).flatMap((source) => sourceWorkers(shared, source)),
    match: async () => matchWorkers(shared),
    deliver: async () => deliverWorkers(shared, stack),
  };
}

/** They may run on every node: what they do, they do under the lock of the rule. */
function ruleWorkers(shared: Shared): Worker[] {
  const upkeep = createRuleUpkeep(shared.database);
  return [
    createUndoAbandonedWorker({ ...shared, store: createRuleStore(shared.database) }),
    createRuleUpkeepWorker({ ...shared, store: upkeep }),
    createReleaseOldSlotsWorker({ ...shared, store: upkeep, progress: createMatchProgress(shared.nats) }),
  ];
}

/** Each source has one registrar and one listener in the whole installation: the lease sees to it. */
function sourceWorkers(shared: Shared, source: Source): Worker[] {
  const common = {
    ...shared,
    installation: shared.installation.id,
    sourceId: source.id,
    platform: source.platform,
    leases: createLeaseStore(shared.database),
    leaseTtlMs: shared.config.leaseTtlMs,
  };
  return [
    createRegistrarWorker({
      ...common,
      upstream: source.rules,
      store: createRegistrarStore(shared.database),
    }),
    createIngestWorker({
      ...common,
      upstream: source.stream,
      protocol: source.protocol,
      freeSlot: source.freeSlot,
      connectors: createConnectorStore(shared.database),
      eventLog: createEventLog(shared.nats),
      store: createSourceStore(shared.database),
      random: Math.random,
    }),
    ...repairWorkers(shared, source),
  ];
}

function matchWorkers(shared: Shared): Worker[] {
  const { config, database, nats } = shared;
  const maintenance = createMaintenance(database);
  const forBatches = {
    ...shared,
    installation: shared.installation.id,
    store: createMatchStore(database, config),
  };
  const matching = Array.from({ length: config.matchWorkers }, (_, index) =>
    createMatchWorker({
      ...forBatches,
      name: `match:${index + 1}`,
      source: createEventSource(nats),
    }),
  );
  return [
    ...matching,
    createDeadLetterWorker({ ...forBatches, letters: createDeadLetters(database) }),
    createPartitionWorker({ ...shared, partitions: maintenance }),
    createMatchedThroughWorker({
      store: createMatchedThrough(shared.database),
      progress: createMatchProgress(shared.nats),
    }),
    createPurgeWorker({ ...shared, store: maintenance }),
    ...logWorkers(shared, (batch) => storeBatch(forBatches, batch)),
  ];
}

/** The log is checked before what is done with makes room for more; old days are removed. */
function logWorkers(shared: Shared, store: CheckLogWorkerOptions['store']): Worker[] {
  const { config, database, nats, node } = shared;
  const underLease = { ...shared, node, leases: createLeaseStore(database), leaseTtlMs: config.leaseTtlMs };
  const settled = createSettledStore(database);
  return [
    createCheckLogWorker({
      ...underLease,
      checkedLog: createCheckedLog(nats),
      settled,
      store,
      nowMs: () => performance.now(),
    }),
    createMakeRoomWorker({ ...shared, space: createLogSpace(nats, () => settled.lastChecked()) }),
    createRetentionWorker({ ...underLease, retention: createRetention(database, config.retentionDays) }),
  ];
}
