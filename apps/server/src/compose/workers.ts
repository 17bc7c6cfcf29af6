import { createEventLog } from '../adapters/nats/event-log.ts';
import { createEventSource } from '../adapters/nats/event-source.ts';
import { createLogSpace } from '../adapters/nats/log-space.ts';
import { createMatchProgress } from '../adapters/nats/match-progress.ts';
import { createClaimStore } from '../adapters/postgres/claim-store.ts';
import { createLeaseStore } from '../adapters/postgres/lease-store.ts';
import { createMaintenance } from '../adapters/postgres/maintenance.ts';
import { createMatchStore } from '../adapters/postgres/match-store.ts';
import { createRegistrarStore } from '../adapters/postgres/registrar-store.ts';
import { createRuleStore } from '../adapters/postgres/rule-store.ts';
import { createRuleUpkeep } from '../adapters/postgres/rule-upkeep.ts';
import { createSourceStore } from '../adapters/postgres/source-store.ts';
import { createForgetWorker } from '../changes/forget-worker.ts';
import { createIngestWorker } from '../ingest/ingest-worker.ts';
import { createParsedRules } from '../language/parsed-rules.ts';
import { createMakeRoomWorker } from '../matching/make-room-worker.ts';
import { createMatchWorker } from '../matching/match-worker.ts';
import { createPartitionWorker } from '../matching/partition-worker.ts';
import { createPurgeWorker } from '../matching/purge-worker.ts';
import type { Roles } from '../roles.ts';
import { createReleaseOldSlotsWorker } from '../rules/release-old-slots-worker.ts';
import { createRuleUpkeepWorker } from '../rules/rule-upkeep-worker.ts';
import { createUndoAbandonedWorker } from '../rules/undo-abandoned-worker.ts';
import type { Worker } from '../runtime/worker.ts';
import { createRegistrarWorker } from '../slots/registrar-worker.ts';
import type { Shared } from './shared.ts';
import { openSources, type Source } from './sources.ts';
import { deliverWorkers } from './webhooks.ts';

/** Which workers each role runs. */
export function createRoles(shared: Shared, stack: AsyncDisposableStack): Roles {
  return {
    api: async () => [...ruleWorkers(shared), createForgetWorker(createClaimStore(shared.database))],
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
      eventLog: createEventLog(shared.nats),
      store: createSourceStore(shared.database),
      random: Math.random,
    }),
  ];
}

function matchWorkers(shared: Shared): Worker[] {
  const maintenance = createMaintenance(shared.database);
  const parsedRules = createParsedRules();
  const matching = Array.from({ length: shared.config.matchWorkers }, (_, index) =>
    createMatchWorker({
      ...shared,
      name: `match:${index + 1}`,
      installation: shared.installation.id,
      source: createEventSource(shared.nats),
      store: createMatchStore(shared.database),
      parsedRules,
    }),
  );
  return [
    ...matching,
    createPartitionWorker(maintenance),
    createPurgeWorker({ ...shared, store: maintenance }),
    createMakeRoomWorker({ ...shared, space: createLogSpace(shared.nats) }),
  ];
}
