import type { Platform } from '@earshot/contract';
import { createLeaseStore } from '../src/engines/leases.ts';
import { createRegistrarStore } from '../src/slots/registrar.sql.ts';
import { createRegistrarWorker, type RegistrarOptions } from '../src/slots/registrar-worker.ts';
import type { SlotRow } from '../src/slots/slot.ts';
import { silentLog, silentTelemetry } from './support.ts';
import { rulesOf, runWorker, type UpstreamWorld } from './upstream-world.ts';

/** The registrar of a platform's only source, against the sandbox. */
export function startRegistrar(
  world: UpstreamWorld,
  platform: Platform,
  changed: Partial<RegistrarOptions> = {},
): AsyncDisposable {
  return runWorker(
    createRegistrarWorker({
      sourceId: `${platform}:main`,
      platform,
      installation: world.installation,
      upstream: rulesOf(platform, world.client(platform)),
      store: createRegistrarStore(world.database, { ruleDelayMs: 20_000 }),
      bells: world.bells,
      leases: createLeaseStore(world.database),
      node: 'node-1',
      leaseTtlMs: 5_000,
      checkpoint: () => undefined,
      telemetry: silentTelemetry(),
      log: silentLog,
      ...changed,
    }),
  );
}

interface WholeSlotRow extends SlotRow {
  problem: string | null;
  problem_kind: string | null;
}

export function slotRows({ database }: UpstreamWorld): Promise<WholeSlotRow[]> {
  return database.many<WholeSlotRow>('select * from slots order by created_at, id');
}

/** Makes a test wait for a moment that a wrapped call announces. */
export function createGate() {
  const reached = Promise.withResolvers<void>();
  const opened = Promise.withResolvers<void>();
  return {
    reached: reached.promise,
    open: () => opened.resolve(),
    async pass(): Promise<void> {
      reached.resolve();
      await opened.promise;
    },
  };
}
