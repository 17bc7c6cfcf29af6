import { setTimeout as wait } from 'node:timers/promises';
import { eventually, lengthOf } from '@earshot/testkit';
import { expect, test } from 'vitest';
import { startWorld, type World, xToken } from './src/world.ts';

const soon = { timeoutMs: 30_000 };
const valuesOf = async (world: World) =>
  (await world.sandbox.xState(xToken)).rules.map(({ value }) => value).toSorted();

/** The default lease in the nightly run. */
const leaseMs = lengthOf({ always: 2_000, nightly: 10_000 });
/** How much longer the others may take; more on a busy machine. */
const takeOverMs = lengthOf({ always: 60_000, nightly: 5_000 });

/** Pauses a node in the middle of a change for three times its lease. */
test('a paused lease holder is replaced soon after its lease, and changes nothing when it continues', async () => {
  await using world = await startWorld();
  const account = await world.newAccount();
  const env = { EARSHOT_TEST: `leaseTtlMs=${leaseMs}` };
  const paused = await world.startServer(env);
  await paused.api(account).createRule({ x: 'ash' });
  const other = await world.startServer(env);
  const api = other.api(account);
  // The upstream makes the change and answers late: the node is paused while it waits.
  await world.sandbox.arm({ kind: 'rules_delay', platform: 'x', ms: 5_000 });
  const birch = api.createRule({ x: 'birch' });
  birch.catch(() => undefined);
  await eventually(async () => expect(await valuesOf(world)).toEqual(['ash', 'birch']), soon);
  process.kill(paused.pid, 'SIGSTOP');
  const stoppedAt = performance.now();
  try {
    await birch;
    const failoverMs = performance.now() - stoppedAt;
    console.log(`failover took ${Math.round(failoverMs)} ms`);
    expect(failoverMs).toBeLessThan(leaseMs + takeOverMs);
    // What it was about to record is outdated when it continues.
    const rules = (await api.listRules()).rules;
    for (const rule of rules) await api.deleteRule(rule.id);
    await api.createRule({ x: 'cedar' });
    await eventually(async () => expect(await valuesOf(world)).toEqual(['cedar']), soon);
    await wait(Math.max(0, 3 * leaseMs - (performance.now() - stoppedAt)));
  } finally {
    process.kill(paused.pid, 'SIGCONT');
  }
  await eventually(async () => expect(await world.serverLog()).toContain('lease lost'), soon);
  const calls = (await world.sandbox.xState(xToken)).rule_calls.change.made;
  // It is running and answers. Any change that it wanted to make upstream would have been made by now.
  expect((await paused.api(account).listRules()).rules).toHaveLength(1);
  await paused.api(account).createRule({ x: 'damson' });
  expect(await valuesOf(world)).toEqual(['cedar', 'damson']);
  expect((await world.sandbox.xState(xToken)).rule_calls.change.made).toBe(calls + 1);
});
