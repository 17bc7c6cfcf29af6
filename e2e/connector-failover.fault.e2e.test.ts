import { eventually, lengthOf, testNightly } from '@earshot/testkit';
import { expect, test } from 'vitest';
import { gapsOf, readLedger } from './src/ledger.ts';
import { startWorld, type World } from './src/world.ts';

/** In the nightly run as in production. */
const leaseTtl = { EARSHOT_TEST: `leaseTtlMs=${lengthOf({ always: '1500', nightly: '10000' })}` };
/** The longest gap of a handover without an expired lease. More than two seconds is tolerance for a busy machine. */
const shortMs = lengthOf({ always: 15_000, nightly: 2_000 });

/** Waits until so many intervals were opened, and the last one is proven. */
async function intervals(world: World, count: number): Promise<void> {
  await eventually(
    async () => {
      const ledger = await readLedger(world, 'x:main');
      expect(ledger).toHaveLength(count);
      expect(ledger.at(-1)?.toMs).toBeGreaterThan(ledger.at(-1)?.fromMs ?? 0);
    },
    { timeoutMs: 60_000 },
  );
}

test('X reconnects soon after a cut and after a shutdown', async () => {
  await using world = await startWorld();
  const account = await world.newAccount();
  const first = await world.startServer(leaseTtl);
  await first.api(account).createRule({ x: 'tremor' });
  await intervals(world, 1);

  await world.sandbox.arm({ kind: 'stream_cut', platform: 'x' });
  await intervals(world, 2);

  await world.startServer(leaseTtl);
  await first.stop();
  await intervals(world, 3);

  const [cut, stop] = gapsOf(await readLedger(world, 'x:main'));
  console.info(`gaps: cut ${cut?.ms} ms, shutdown ${stop?.ms} ms`);
  expect(cut).toMatchObject({ because: 'dropped' });
  expect(cut?.ms).toBeLessThan(shortMs);
  expect(stop).toMatchObject({ because: 'stopped' });
  expect(stop?.ms).toBeLessThan(shortMs);
});

// In the short run apps/server/test/connector.int.test.ts covers a connection that X still counts.
testNightly('X reconnects within 35 s after a crash with a stuck connection', {}, async () => {
  await using world = await startWorld();
  const account = await world.newAccount();
  const second = await world.startServer(leaseTtl);
  await second.api(account).createRule({ x: 'tremor' });
  await intervals(world, 1);
  await world.startServer(leaseTtl);
  // X does not notice the crash: it counts the connection until it is closed.
  await world.sandbox.arm({ kind: 'stuck_connection', platform: 'x' });
  await second.kill();
  await intervals(world, 2);
  expect(await world.sandbox.fired()).toEqual([1]);

  const [crash] = gapsOf(await readLedger(world, 'x:main'));
  console.info(`gap: crash ${crash?.ms} ms`);
  expect(crash).toMatchObject({ because: 'process_died' });
  expect(crash?.ms).toBeLessThan(35_000);
  expect(await world.serverLog()).toContain('stale connections');
});
