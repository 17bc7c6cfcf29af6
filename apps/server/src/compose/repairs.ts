import { createEventLog } from '../adapters/nats/event-log.ts';
import { readLastEvent } from '../adapters/nats/last-event.ts';
import { createLeaseStore } from '../adapters/postgres/lease-store.ts';
import { createRepairStore, readLatestInterval } from '../adapters/postgres/repair-store.ts';
import { isRecoverable, recoverGap } from '../coverage/recover-gap.ts';
import { repairGap } from '../coverage/repair-gap.ts';
import { createRepairWorker, type RepairWorkerOptions } from '../coverage/repair-worker.ts';
import { createReplayWorker } from '../coverage/replay-worker.ts';
import type { Worker } from '../runtime/worker.ts';
import type { Shared } from './shared.ts';
import type { Source } from './sources.ts';

/** Under leases of their own: a slow search must not keep the stream waiting. */
export function repairWorkers(shared: Shared, source: Source): Worker[] {
  const { config, database, nats } = shared;
  const common = {
    ...shared,
    sourceId: source.id,
    leases: createLeaseStore(database),
    leaseTtlMs: config.leaseTtlMs,
    store: createRepairStore(database),
  };
  const repair = repairOf(shared, source);
  if (repair) return [createRepairWorker({ ...common, repair, pace: config.upstreamPace })];
  if (source.repair) return [];
  return [
    createReplayWorker({
      ...common,
      latestInterval: (sourceId) => readLatestInterval(database, sourceId),
      lastEvent: (sourceId) => readLastEvent(nats, sourceId),
    }),
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
