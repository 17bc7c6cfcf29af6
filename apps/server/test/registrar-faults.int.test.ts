import { eventually, type Template } from '@earshot/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createLeaseStore } from '../src/engines/leases.ts';
import { createRegistrarStore } from '../src/slots/registrar.sql.ts';
import { createGate, slotRows, startRegistrar } from './registrar-support.ts';
import { createMigratedTemplate } from './support.ts';
import { beginRule, openUpstreamWorld, rulesOf, type UpstreamWorld } from './upstream-world.ts';

const soon = { timeoutMs: 100_000 };

let template: Template;
beforeAll(async () => {
  template = await createMigratedTemplate();
});
afterAll(() => template?.[Symbol.asyncDispose]());

async function untilRegistered(world: UpstreamWorld): Promise<string> {
  const id = await eventually(async () => {
    const slots = await slotRows(world);
    expect(slots).toMatchObject([{ state: 'registered' }]);
    return slots[0]?.upstream_rule_id;
  }, soon);
  return id ?? '';
}

describe('a lost answer', () => {
  test.each(['x', 'firehose'] as const)(
    'on add: %s ends with exactly one rule, recorded',
    async (platform) => {
      await using world = await openUpstreamWorld(template);
      await beginRule(world.rules, { [platform]: 'word' });
      await world.sandbox.arm({ kind: 'rules_lost_answer', platform });
      await using _registrar = startRegistrar(world, platform);
      const id = await untilRegistered(world);
      expect(await world.sandbox.fired()).toEqual([1]);
      const upstream = platform === 'x' ? world.sandbox.xRules : world.sandbox.tapRules;
      await eventually(async () => expect(await upstream()).toMatchObject([{ id, value: 'word' }]), soon);
    },
  );

  test.each(['x', 'firehose'] as const)('on removal: %s ends without the rule', async (platform) => {
    await using world = await openUpstreamWorld(template);
    const { ruleId } = await beginRule(world.rules, { [platform]: 'word' });
    await using _registrar = startRegistrar(world, platform);
    await untilRegistered(world);
    await world.sandbox.arm({ kind: 'rules_lost_answer', platform });
    await world.rules.abandon(ruleId);
    world.bells.ring('slots');
    await eventually(async () => expect(await slotRows(world)).toEqual([]), soon);
    expect(await world.sandbox.fired()).toEqual([1]);
    expect(await (platform === 'x' ? world.sandbox.xRules : world.sandbox.tapRules)()).toEqual([]);
  });
});

describe('a slot gets a holder', () => {
  test('while it is being removed: it is registered again', async () => {
    await using world = await openUpstreamWorld(template);
    const { ruleId } = await beginRule(world.rules, { x: 'word' });
    const real = rulesOf('x', world.client('x'));
    const gate = createGate();
    const upstream = {
      ...real,
      async remove(...args: Parameters<typeof real.remove>) {
        await real.remove(...args);
        await gate.pass();
      },
    };
    await using _registrar = startRegistrar(world, 'x', { upstream });
    const before = await untilRegistered(world);
    await world.rules.abandon(ruleId);
    world.bells.ring('slots');
    await gate.reached;
    const second = await beginRule(world.rules, { x: 'word' });
    expect(await slotRows(world)).toMatchObject([{ state: 'deleting' }]);
    gate.open();
    const after = await untilRegistered(world);
    expect(after).not.toBe(before);
    // The rule is notified a moment after its slot.
    await eventually(
      async () =>
        expect(await world.rules.slotStates(second.ruleId)).toMatchObject([{ state: 'registered' }]),
      soon,
    );
    expect(await world.sandbox.xRules()).toMatchObject([{ id: after }]);
  });

  test('after its vanished rule was missing without a holder: it is not called registered before it is', async () => {
    await using world = await openUpstreamWorld(template);
    const first = await beginRule(world.rules, { x: 'word' });
    {
      await using _registrar = startRegistrar(world, 'x');
      await untilRegistered(world);
    }
    // What a reconciliation records when X has lost the rule; then X cannot be reached and the holder leaves.
    await world.database.run(`update slots set state = 'wanted'`);
    await world.rules.abandon(first.ruleId);
    const second = await beginRule(world.rules, { x: 'word' });
    expect(await world.rules.slotStates(second.ruleId)).toMatchObject([{ state: 'wanted' }]);
  });

  test('after X answered without a holder: its registration and its beginning are known', async () => {
    await using world = await openUpstreamWorld(template);
    const first = await beginRule(world.rules, { x: 'word' });
    const lease = await createLeaseStore(world.database).acquire('registrar:x:main', 'node', 60_000);
    if (!lease) throw new Error('another node holds the lease');
    const [slot] = await slotRows(world);
    await world.rules.abandon(first.ruleId);
    await createRegistrarStore(world.database, { ruleDelayMs: 20_000 }).recordRegistered(lease, [
      { slotId: slot?.id ?? '', upstreamRuleId: '7', foreignRule: false },
    ]);
    await beginRule(world.rules, { x: 'word' });
    expect(await slotRows(world)).toMatchObject([
      { state: 'registered', upstream_rule_id: '7', registered_at: expect.any(Date) },
    ]);
  });

  test('when it is about to be released but is still upstream: it is registered at once', async () => {
    await using world = await openUpstreamWorld(template);
    const first = await beginRule(world.rules, { x: 'word' });
    {
      await using _registrar = startRegistrar(world, 'x');
      await untilRegistered(world);
    }
    await world.rules.abandon(first.ruleId);
    expect(await slotRows(world)).toMatchObject([{ state: 'releasing' }]);
    await beginRule(world.rules, { x: 'word' });
    expect(await slotRows(world)).toMatchObject([{ state: 'registered' }]);
  });
});

/** Pauses a registrar between X's answer and its own record; meanwhile the lease may go to another one. */
async function recordLate({ stolen }: { stolen: boolean }) {
  await using world = await openUpstreamWorld(template);
  await beginRule(world.rules, { x: 'word' });
  const real = rulesOf('x', world.client('x'));
  const gate = createGate();
  const upstream = {
    ...real,
    async add(...args: Parameters<typeof real.add>) {
      const outcomes = await real.add(...args);
      await gate.pass();
      return outcomes;
    },
  };
  const leases = createLeaseStore(world.database);
  let acquisitions = 0;
  const counted: typeof leases = {
    ...leases,
    acquire: (...args) => {
      acquisitions++;
      return leases.acquire(...args);
    },
  };
  await using _registrar = startRegistrar(world, 'x', { upstream, leases: counted });
  await gate.reached;
  expect(await world.sandbox.xRules()).toHaveLength(1);
  if (stolen) {
    await world.database.run(`update leases set expires_at = now() - interval '1 second'`);
    expect(await leases.acquire('registrar:x:main', 'node-2', 60_000)).toMatchObject({ holder: 'node-2' });
  }
  gate.open();
  // It waits for the lease again: whatever it did under the old one is done.
  if (stolen) await eventually(() => expect(acquisitions).toBeGreaterThan(1), soon);
  else await untilRegistered(world);
  return (await slotRows(world))[0];
}

describe('a registrar that lost its lease while it waited for X', () => {
  test('records nothing', async () => {
    expect(await recordLate({ stolen: true })).toMatchObject({ state: 'wanted', upstream_rule_id: null });
  });

  test('control: with its lease it records the registration', async () => {
    expect(await recordLate({ stolen: false })).toMatchObject({ state: 'registered' });
  });
});

test('a registration is recorded while its rule is locked: an undo locks the rule first, then its slots', async () => {
  await using world = await openUpstreamWorld(template);
  const { ruleId } = await beginRule(world.rules, { x: 'word' });
  const lease = await createLeaseStore(world.database).acquire('registrar:x:main', 'node-1', 60_000);
  if (!lease) throw new Error('no lease');
  const store = createRegistrarStore(world.database, { ruleDelayMs: 0 });
  const [slot] = await slotRows(world);
  await world.database.transaction(async (sql) => {
    await sql.run('select 1 from rules where id = $1 for update', [ruleId]);
    await store.recordRegistered(lease, [
      { slotId: slot?.id ?? '', upstreamRuleId: '7', foreignRule: false },
    ]);
  });
  expect(await slotRows(world)).toMatchObject([{ state: 'registered', upstream_rule_id: '7' }]);
});
