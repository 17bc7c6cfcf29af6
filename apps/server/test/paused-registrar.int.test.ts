import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { eventually, type Template } from '@earshot/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { slotRows, startRegistrar } from './registrar-support.ts';
import { createMigratedTemplate } from './support.ts';
import { beginRule, openUpstreamWorld, type UpstreamWorld } from './upstream-world.ts';

const script = fileURLToPath(new URL('registrar-process.ts', import.meta.url));
const soon = { timeoutMs: 100_000 };
const leaseTtlMs = 2_000;

let template: Template;
beforeAll(async () => {
  template = await createMigratedTemplate();
});
afterAll(() => template?.[Symbol.asyncDispose]());

async function startPausable(world: UpstreamWorld, fence: 'fenced' | 'unfenced') {
  const args = [script, world.databaseUrl, world.sandboxUrl, String(leaseTtlMs), fence];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  const said: string[] = [];
  createInterface(child.stdout).on('line', (line) => said.push(line));
  return {
    said,
    signal: (name: NodeJS.Signals) => child.kill(name),
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

/**
 * A holder has three rules to add and is paused while Firehose answers to the first. Another one takes over, adds them,
 * and removes them again. Returns the outcome of the first holder's next call, and the rules that Firehose has after it.
 */
async function wakeAfterFailover(fence: 'fenced' | 'unfenced') {
  await using world = await openUpstreamWorld(template);
  const rules = [];
  for (const word of ['ash', 'birch', 'cedar']) rules.push(await beginRule(world.rules, { firehose: word }));
  const values = async () => (await world.sandbox.tapRules()).map(({ value }) => value);
  await world.sandbox.arm({ kind: 'rules_delay', platform: 'firehose', ms: 1_000 });
  await using paused = await startPausable(world, fence);
  await eventually(async () => expect(await values()).toEqual(['ash']), { ...soon, intervalMs: 10 });
  paused.signal('SIGSTOP');
  const stoppedAt = performance.now();
  const timing = { pollIntervalMs: 50, reconcileEveryMs: 600_000 };
  await using _other = startRegistrar(world, 'firehose', { leaseTtlMs: 60_000, timing });
  await eventually(async () => expect((await values()).toSorted()).toEqual(['ash', 'birch', 'cedar']), soon);
  for (const { ruleId } of rules) await world.rules.abandon(ruleId);
  world.bells.ring('slots');
  await eventually(async () => expect(await slotRows(world)).toEqual([]), soon);
  expect(await values()).toEqual([]);
  await wait(Math.max(0, 2.5 * leaseTtlMs - (performance.now() - stoppedAt)));
  const saidBefore = paused.said.length;
  paused.signal('SIGCONT');
  const outcome = await eventually(() => {
    expect(paused.said.length).toBeGreaterThan(saidBefore);
    return paused.said[saidBefore];
  }, soon);
  // Longer than a call takes that it was allowed to make.
  await wait(1_000);
  return { outcome, values: await values() };
}

test('a holder that was paused in a batch makes no further change when it continues', async () => {
  expect(await wakeAfterFailover('fenced')).toEqual({ outcome: 'lease lost', values: [] });
});

test('control: without the fence it continues its batch, and leaves orphaned rules', async () => {
  const { outcome, values } = await wakeAfterFailover('unfenced');
  expect(outcome).toBe('allowed');
  expect(values).toContain('birch');
});
