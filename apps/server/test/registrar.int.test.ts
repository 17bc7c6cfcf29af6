import { eventually, type Template } from '@earshot/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pause } from '../src/runtime/worker.ts';
import { createRegistrarStore } from '../src/slots/registrar.sql.ts';
import { slotTag } from '../src/slots/slot.ts';
import { slotRows, startRegistrar } from './registrar-support.ts';
import { createMigratedTemplate } from './support.ts';
import { beginRule, byHand, openUpstreamWorld, rulesOf } from './upstream-world.ts';

const soon = { timeoutMs: 100_000 };
const never = new AbortController().signal;

let template: Template;
beforeAll(async () => {
  template = await createMigratedTemplate();
});
afterAll(() => template?.[Symbol.asyncDispose]());

describe('registering', () => {
  test('sends a hundred wanted slots to X in one call', async () => {
    await using world = await openUpstreamWorld(template);
    for (let n = 0; n < 100; n++) await beginRule(world.rules, { x: `word${n}` });
    const client = world.client('x');
    await using _registrar = startRegistrar(world, 'x', { upstream: rulesOf('x', client) });
    await eventually(async () => {
      expect((await slotRows(world)).every(({ state }) => state === 'registered')).toBe(true);
    }, soon);
    const changes = client.calls.filter(({ method }) => method === 'POST');
    expect(changes).toHaveLength(1);
    expect(changes[0]?.body).toMatchObject({ add: expect.objectContaining({ length: 100 }) });
    const recorded = (await slotRows(world)).map(({ value, upstream_rule_id: id }) => `${id} ${value}`);
    const upstream = (await world.sandbox.xRules()).map(({ id, value }) => `${id} ${value}`);
    expect(recorded.toSorted()).toEqual(upstream.toSorted());
  });

  test("fails a rule that X refuses inside a 200 with X's message, and registers the others of its batch", async () => {
    await using world = await openUpstreamWorld(template);
    for (const value of ['good', 'bad', 'fine']) await beginRule(world.rules, { x: value });
    await world.sandbox.arm({
      kind: 'rule_refused',
      platform: 'x',
      contains: 'bad',
      message: 'no such thing',
    });
    await using _registrar = startRegistrar(world, 'x');
    await eventually(async () => {
      expect(await slotRows(world)).toMatchObject([
        { value: 'good', state: 'registered' },
        {
          value: 'bad',
          state: 'failed',
          problem: 'no such thing',
          problem_kind: 'refused',
          retry_at: null,
        },
        { value: 'fine', state: 'registered' },
      ]);
    }, soon);
    expect(await world.sandbox.fired()).toEqual([1]);
  });

  test.each([
    ['x', { kind: 'rules_status', status: 503, method: 'POST' }],
    ['firehose', { kind: 'rules_status', status: 429, method: 'POST', retry_after: 2 }],
  ] as const)('%s answers %o: waiting callers are notified, and it is retried', async (platform, fault) => {
    await using world = await openUpstreamWorld(template);
    const { ruleId } = await beginRule(world.rules, { [platform]: 'word' });
    await world.sandbox.arm({ ...fault, platform });
    await using _registrar = startRegistrar(world, platform);
    await eventually(async () => {
      expect(await world.rules.slotStates(ruleId)).toMatchObject([
        {
          state: 'wanted',
          problemKind: 'unavailable',
          problem: expect.stringContaining(String(fault.status)),
        },
      ]);
    }, soon);
    await eventually(async () => {
      expect(await world.rules.slotStates(ruleId)).toMatchObject([{ state: 'registered', problem: null }]);
    }, soon);
    expect(await world.sandbox.fired()).toEqual([1]);
  });
});

describe('a rule that is already upstream', () => {
  test('with our tag is adopted, and removed when its rule is deleted', async () => {
    await using world = await openUpstreamWorld(template);
    const { ruleId } = await beginRule(world.rules, { x: 'word' });
    const real = rulesOf('x', world.client('x'));
    // The first answer is lost between X and us: we see the answer to the second attempt.
    let lost = 0;
    const upstream = {
      ...real,
      add: async (...args: Parameters<typeof real.add>) => {
        if (lost++ === 0) await real.add(...args);
        return await real.add(...args);
      },
    };
    await using _registrar = startRegistrar(world, 'x', { upstream });
    await eventually(async () => {
      expect(await slotRows(world)).toMatchObject([{ state: 'registered', foreign_rule: false }]);
    }, soon);
    expect(lost).toBe(1);
    const [rule] = await world.sandbox.xRules();
    expect((await slotRows(world))[0]?.upstream_rule_id).toBe(rule?.id);
    await world.rules.abandon(ruleId);
    world.bells.ring('slots');
    await eventually(async () => expect(await slotRows(world)).toEqual([]), soon);
    expect(await world.sandbox.xRules()).toEqual([]);
  });

  test('with a foreign tag is used and never deleted', async () => {
    await using world = await openUpstreamWorld(template);
    await rulesOf('x', world.client('x')).add([{ value: 'word', tag: 'theirs' }], byHand);
    const { ruleId } = await beginRule(world.rules, { x: 'word' });
    await using _registrar = startRegistrar(world, 'x');
    await eventually(async () => {
      expect(await slotRows(world)).toMatchObject([{ state: 'registered', foreign_rule: true }]);
    }, soon);
    await world.rules.abandon(ruleId);
    world.bells.ring('slots');
    await eventually(async () => expect(await slotRows(world)).toEqual([]), soon);
    expect(await world.sandbox.xRules()).toMatchObject([{ value: 'word', tag: 'theirs' }]);
  });

  test('with the tag of a former slot is replaced by one with the tag of the new slot', async () => {
    await using world = await openUpstreamWorld(template);
    const client = world.client('x');
    await using _registrar = startRegistrar(world, 'x', { upstream: rulesOf('x', client) });
    await eventually(() => expect(client.calls).not.toEqual([]), soon);
    await rulesOf('x', world.client('x')).add(
      [{ value: 'word', tag: slotTag(world.installation, 'slot_of_old') }],
      byHand,
    );
    await beginRule(world.rules, { x: 'word' });
    world.bells.ring('slots');
    const [slot] = await slotRows(world);
    await eventually(async () => {
      expect(await slotRows(world)).toMatchObject([{ state: 'registered', foreign_rule: false }]);
    }, soon);
    expect(await world.sandbox.xRules()).toMatchObject([
      { value: 'word', tag: slotTag(world.installation, slot?.id ?? '') },
    ]);
  });

  test('that the list does not show is retried after a pause', async () => {
    await using world = await openUpstreamWorld(template);
    await beginRule(world.rules, { x: 'word' });
    let attempts = 0;
    const upstream = {
      ...rulesOf('x', world.client('x')),
      list: async () => [],
      remove: async () => undefined,
      add: async () => {
        attempts++;
        return [{ kind: 'duplicate' } as const];
      },
    };
    await using _registrar = startRegistrar(world, 'x', { upstream });
    await eventually(async () => {
      expect(await slotRows(world)).toMatchObject([{ state: 'wanted', problem_kind: 'unavailable' }]);
    }, soon);
    expect(attempts).toBe(1);
    await eventually(() => expect(attempts).toBeGreaterThan(1), soon);
  });

  test('a registrar never waits for a negative time, however long recording the problem takes', async () => {
    await using world = await openUpstreamWorld(template);
    await beginRule(world.rules, { x: 'word' });
    await world.sandbox.arm({ kind: 'rules_status', platform: 'x', status: 503, count: 5 });
    const waits: number[] = [];
    const bells: typeof world.bells = {
      ...world.bells,
      listen(name) {
        const listener = world.bells.listen(name);
        return {
          ...listener,
          wait(timeoutMs, signal) {
            waits.push(timeoutMs);
            return listener.wait(timeoutMs, signal);
          },
        };
      },
    };
    // Recording takes longer than the registrar waits before it retries.
    const retryDelayMs = 5;
    const store = createRegistrarStore(world.database, { ruleDelayMs: 20_000 });
    const slow: typeof store = {
      ...store,
      async recordProblem(...given) {
        await store.recordProblem(...given);
        await pause(2 * retryDelayMs, never);
      },
    };
    await using _registrar = startRegistrar(world, 'x', { bells, store: slow, timing: { retryDelayMs } });
    await eventually(
      async () => expect(await slotRows(world)).toMatchObject([{ state: 'registered' }]),
      soon,
    );
    expect(waits).not.toEqual([]);
    expect(waits.filter((ms) => ms <= 0)).toEqual([]);
  });

  test.each(['x', 'firehose'] as const)(
    '%s: orphans with our tag are deleted, all other rules stay',
    async (platform) => {
      await using world = await openUpstreamWorld(template);
      const rules = rulesOf(platform, world.client(platform));
      await rules.add(
        [
          { value: 'theirs', tag: 'theirs' },
          { value: 'neighbour', tag: slotTag('another-one', 'slot_1') },
          { value: 'orphan', tag: slotTag(world.installation, 'slot_orphaned') },
        ],
        byHand,
      );
      await using _registrar = startRegistrar(world, platform);
      const left = platform === 'x' ? world.sandbox.xRules : world.sandbox.tapRules;
      await eventually(
        async () => expect((await left()).map(({ value }) => value)).toEqual(['theirs', 'neighbour']),
        soon,
      );
    },
  );
});
