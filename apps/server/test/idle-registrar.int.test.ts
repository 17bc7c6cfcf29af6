import { eventually, type Template } from '@earshot/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRegistrarStore, type RegistrarStore } from '../src/slots/registrar.sql.ts';
import { slotRows, startRegistrar } from './registrar-support.ts';
import { createMigratedTemplate } from './support.ts';
import { beginRule, byHand, openUpstreamWorld, rulesOf, type UpstreamWorld } from './upstream-world.ts';

const soon = { timeoutMs: 100_000 };

let template: Template;
beforeAll(async () => {
  template = await createMigratedTemplate();
});
afterAll(() => template?.[Symbol.asyncDispose]());

/** A registrar with one registered slot, and how often it has called each method of its store. */
async function openIdle(timing: { pollIntervalMs: number; reconcileEveryMs?: number }) {
  await using stack = new AsyncDisposableStack();
  const world = stack.use(await openUpstreamWorld(template));
  await beginRule(world.rules, { x: 'word' });
  const calls = new Map<string | symbol, number>();
  const store = new Proxy(createRegistrarStore(world.database, { ruleDelayMs: 20_000 }), {
    get(target, name, receiver) {
      calls.set(name, (calls.get(name) ?? 0) + 1);
      return Reflect.get(target, name, receiver);
    },
  });
  // Comparisons run as often as they are triggered: this test is about their cost, not about the upstream's limits.
  const upstream = rulesOf('x', world.client('x'), 1_000);
  stack.use(startRegistrar(world, 'x', { store, upstream, timing }));
  await eventually(async () => expect(await slotRows(world)).toMatchObject([{ state: 'registered' }]), soon);
  const all = stack.move();
  return {
    world,
    count: (method: keyof RegistrarStore) => calls.get(method) ?? 0,
    calls,
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

/** Waits until so many more calls of the method were made. */
async function untilCalled(
  { count }: Awaited<ReturnType<typeof openIdle>>,
  method: keyof RegistrarStore,
  more: number,
): Promise<void> {
  const before = count(method);
  await eventually(() => expect(count(method)).toBeGreaterThanOrEqual(before + more), soon);
}

async function onlyRule({ sandbox }: UpstreamWorld): Promise<string> {
  return (await sandbox.xRules())[0]?.id ?? '';
}

test('an idle registrar runs one statement to check for work', async () => {
  await using idle = await openIdle({ pollIntervalMs: 10 });
  await untilCalled(idle, 'mayHaveWork', 3);
  idle.calls.clear();
  await untilCalled(idle, 'mayHaveWork', 10);
  expect([...idle.calls.keys()]).toEqual(['mayHaveWork']);
});

describe('a comparison that found nothing to do', () => {
  const often = { pollIntervalMs: 10, reconcileEveryMs: 20 };

  test('is not repeated while the list and the slots stay the same', async () => {
    await using idle = await openIdle(often);
    await untilCalled(idle, 'fingerprint', 3);
    const before = idle.count('slotsOf');
    await untilCalled(idle, 'fingerprint', 10);
    expect(idle.count('slotsOf')).toBe(before);
  });

  test('is repeated if the upstream has lost the rule, which is registered again', async () => {
    await using idle = await openIdle(often);
    await untilCalled(idle, 'fingerprint', 3);
    const lost = await onlyRule(idle.world);
    await rulesOf('x', idle.world.client('x')).remove([lost], byHand);
    await eventually(async () => {
      const now = await onlyRule(idle.world);
      expect(now).not.toBe('');
      expect(await slotRows(idle.world)).toMatchObject([{ state: 'registered', upstream_rule_id: now }]);
    }, soon);
    expect(await onlyRule(idle.world)).not.toBe(lost);
  });

  test("is repeated if a slot has changed, and records the list's content", async () => {
    await using idle = await openIdle(often);
    await untilCalled(idle, 'fingerprint', 3);
    await idle.world.database.run(`update slots set upstream_rule_id = 'another'`);
    const id = await onlyRule(idle.world);
    await eventually(
      async () => expect(await slotRows(idle.world)).toMatchObject([{ upstream_rule_id: id }]),
      soon,
    );
  });
});
