import { defaultTapToken } from '@earshot/sandbox';
import type { Database } from '../src/engines/database.ts';
import { readInstallation } from '../src/engines/installation.ts';
import { createLeaseStore, type Lease, LeaseLost, type LeaseStore } from '../src/engines/leases.ts';
import { pause } from '../src/runtime/worker.ts';
import { createRegistrarStore, type RegistrarStore } from '../src/slots/registrar.sql.ts';
import { createRegistrarWorker } from '../src/slots/registrar-worker.ts';
import { createUpstreamClient } from '../src/upstream/client.ts';
import { createLocalBells } from './local-bells.ts';
import { openTestDatabase, silentLog, silentTelemetry } from './support.ts';
import { rulesOf } from './upstream-world.ts';

/*
 * The registrar of a Firehose token in a separate process, so that SIGSTOP can pause it. Without the fence its records count
 * as those of the current lease holder: as if the epoch were not checked.
 */
const [databaseUrl = '', sandboxUrl = '', ttlMs = '', fence = ''] = process.argv.slice(2);
const leaseTtlMs = Number(ttlMs);

await using database = openTestDatabase(databaseUrl);
await using client = createUpstreamClient({ baseUrl: sandboxUrl, token: defaultTapToken, name: 'tap' });
const store = createRegistrarStore(database, { ruleDelayMs: 20_000 });
const worker = createRegistrarWorker({
  sourceId: 'firehose:main',
  platform: 'firehose',
  installation: (await readInstallation(database)).id,
  upstream: rulesOf('firehose', client),
  store: logged(fence === 'fenced' ? store : withoutFence(store, database)),
  bells: createLocalBells(),
  leases: lateAfterPause(createLeaseStore(database)),
  node: 'paused',
  leaseTtlMs,
  checkpoint: () => undefined,
  telemetry: silentTelemetry(),
  log: silentLog,
  timing: { pollIntervalMs: 50 },
});
await worker.run(new AbortController().signal);

/** After a pause the loss of the lease is noticed late: until then only the fence protects. */
function lateAfterPause(leases: LeaseStore): LeaseStore {
  let renewedAt = performance.now();
  return {
    ...leases,
    async renew(lease, ttl) {
      const wasPaused = performance.now() - renewedAt > ttl;
      if (wasPaused) await pause(ttl / 4, new AbortController().signal);
      renewedAt = performance.now();
      return await leases.renew(lease, ttl);
    },
  };
}

/** Logs the outcome of each call before the caller gets it. */
function logged(silent: RegistrarStore): RegistrarStore {
  return {
    ...silent,
    async recordCall(lease, sourceId, limit, accounts) {
      try {
        await silent.recordCall(lease, sourceId, limit, accounts);
        process.stdout.write('allowed\n');
      } catch (error) {
        process.stdout.write(error instanceof LeaseLost ? 'lease lost\n' : `${String(error)}\n`);
        throw error;
      }
    },
  };
}

function withoutFence(fenced: RegistrarStore, db: Database): RegistrarStore {
  const current = async ({ name }: Lease): Promise<Lease> => {
    const row = await db.one<Lease>('select name, holder, epoch from leases where name = $1', [name]);
    if (!row) throw new Error(`${name} has no holder`);
    return row;
  };
  return {
    ...fenced,
    recordRegistered: async (lease, registered) =>
      await fenced.recordRegistered(await current(lease), registered),
    recordCall: async (lease, sourceId, limit, accounts) =>
      await fenced.recordCall(await current(lease), sourceId, limit, accounts),
  };
}
