import type { Platform } from '@earshot/contract';
import { startSandbox } from '@earshot/sandbox';
import { eventually, type Template } from '@earshot/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createSourceStore } from '../src/ingest/source-store.sql.ts';
import { createUpstreamClient } from '../src/upstream/client.ts';
import { slotRows, startRegistrar } from './registrar-support.ts';
import { createSandboxControl } from './sandbox-control.ts';
import { createMigratedTemplate } from './support.ts';
import { beginRule, byHand, openUpstreamWorld, rulesOf, type UpstreamWorld } from './upstream-world.ts';

const soon = { timeoutMs: 100_000 };
const xCap = (ruleCap: number) => ({ xApps: [{ token: 'sandbox-x-token', ruleCap }] });
const tapCap = (ruleCap: number) => ({ taps: [{ token: 'fh_sandbox', ruleCap }] });

let template: Template;
beforeAll(async () => {
  template = await createMigratedTemplate();
});
afterAll(() => template?.[Symbol.asyncDispose]());

async function capacityOf(world: UpstreamWorld, sourceId: string): Promise<number | undefined> {
  const row = await world.database.one<{ capacity: number }>('select capacity from sources where id = $1', [
    sourceId,
  ]);
  return row?.capacity;
}

const announce = (world: UpstreamWorld, id: string, capacity: number) =>
  createSourceStore(world.database).announce([
    { id, platform: id.startsWith('x') ? 'x' : 'firehose', capacity },
  ]);

const addTheirs = (world: UpstreamWorld, values: readonly string[]) =>
  rulesOf('x', world.client('x')).add(
    values.map((value) => ({ value, tag: 'theirs' })),
    byHand,
  );

async function fill(world: UpstreamWorld, platform: Platform, words: readonly string[]): Promise<void> {
  for (const word of words) await beginRule(world.rules, { [platform]: word });
}

const placed = async (world: UpstreamWorld) =>
  (await slotRows(world)).map((slot) => `${slot.value} ${slot.state}`);

/** A second source of the platform, in a separate sandbox. */
async function openSecond(world: UpstreamWorld, platform: Platform) {
  const stack = new AsyncDisposableStack();
  const { url } = stack.use(await startSandbox({ rateLimits: false, ruleDelayMs: 0 }));
  const token = platform === 'x' ? 'sandbox-x-token' : 'fh_sandbox';
  const client = stack.use(createUpstreamClient({ baseUrl: url, token, name: 'second' }));
  await announce(world, `${platform}:second`, 2);
  const control = createSandboxControl(url);
  return {
    rules: async () =>
      (await (platform === 'x' ? control.xRules() : control.tapRules())).map(({ value }) => value),
    start: () =>
      startRegistrar(world, platform, {
        sourceId: `${platform}:second`,
        upstream: rulesOf(platform, client),
      }),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

describe("X's reported cap", () => {
  test('is the capacity, without the rules of other programs, and survives a start with a larger setting', async () => {
    await using world = await openUpstreamWorld(template, xCap(5));
    await addTheirs(world, ['theirs', 'theirs too']);
    {
      await using _registrar = startRegistrar(world, 'x');
      await eventually(async () => expect(await capacityOf(world, 'x:main')).toBe(3), soon);
    }
    await announce(world, 'x:main', 1_000);
    expect(await capacityOf(world, 'x:main')).toBe(3);
    await announce(world, 'x:main', 2);
    expect(await capacityOf(world, 'x:main')).toBe(2);
    await announce(world, 'x:main', 4);
    expect(await capacityOf(world, 'x:main')).toBe(3);
    await fill(world, 'x', ['ash', 'birch', 'cedar']);
    const { outcome } = await beginRule(world.rules, { x: 'damson' });
    expect(outcome).toEqual({ kind: 'sources_full', platform: 'x', capacity: 3 });
  });

  test('is queried again, so that rules deleted by other programs make room', async () => {
    await using world = await openUpstreamWorld(template, xCap(2));
    await addTheirs(world, ['theirs']);
    const timing = { reconcileEveryMs: 50, learnCapacityEveryMs: 50 };
    const upstream = rulesOf('x', world.client('x'), 1_000);
    await using _registrar = startRegistrar(world, 'x', { upstream, timing });
    await eventually(async () => expect(await capacityOf(world, 'x:main')).toBe(1), soon);
    await world.sandbox.arm({ kind: 'rules_vanish', platform: 'x' });
    await eventually(async () => expect(await capacityOf(world, 'x:main')).toBe(2), soon);
  });
});

describe('a source that is unexpectedly full', () => {
  test('x: registers the part of a batch that fits, and another source takes the rest', async () => {
    await using world = await openUpstreamWorld(template, xCap(3));
    await using second = await openSecond(world, 'x');
    // It queries the cap only when it is triggered.
    await using _first = startRegistrar(world, 'x', {
      timing: { pollIntervalMs: 600_000, reconcileEveryMs: 600_000 },
    });
    await eventually(async () => expect(await capacityOf(world, 'x:main')).toBe(3), soon);
    // These rules of other programs were not announced; and all three slots are placed before the second source exists.
    await addTheirs(world, ['theirs', 'theirs too']);
    await announce(world, 'x:second', 0);
    await fill(world, 'x', ['ash', 'birch', 'cedar']);
    await announce(world, 'x:second', 2);
    world.bells.ring('slots');
    await using _second = second.start();
    await eventually(
      async () =>
        expect(await placed(world)).toEqual(['ash registered', 'birch registered', 'cedar registered']),
      soon,
    );
    expect((await world.sandbox.xRules()).map(({ value }) => value)).toEqual(['theirs', 'theirs too', 'ash']);
    expect(await second.rules()).toEqual(['birch', 'cedar']);
    expect(await capacityOf(world, 'x:main')).toBe(1);
  });

  test('firehose: its 422 reveals the capacity, and another Firehose token takes what does not fit', async () => {
    await using world = await openUpstreamWorld(template, tapCap(1));
    await using second = await openSecond(world, 'firehose');
    await announce(world, 'firehose:second', 0);
    await fill(world, 'firehose', ['ash', 'birch', 'cedar']);
    await announce(world, 'firehose:second', 2);
    const client = world.client('firehose');
    await using _first = startRegistrar(world, 'firehose', { upstream: rulesOf('firehose', client) });
    await using _second = second.start();
    await eventually(
      async () =>
        expect(await placed(world)).toEqual(['ash registered', 'birch registered', 'cedar registered']),
      soon,
    );
    expect((await world.sandbox.tapRules()).map(({ value }) => value)).toEqual(['ash']);
    expect(await second.rules()).toEqual(['birch', 'cedar']);
    expect(await capacityOf(world, 'firehose:main')).toBe(1);
    // The third rule was not even sent.
    expect(client.calls.filter(({ method, path }) => method === 'POST' && path === '/v1/rules')).toHaveLength(
      2,
    );
  });

  test.each(['x', 'firehose'] as const)(
    '%s: without room anywhere the slot fails and says so',
    async (platform) => {
      await using world = await openUpstreamWorld(template, { ...xCap(1), ...tapCap(1) });
      // X's own numbers are not queried here: the refusal counts.
      const upstream = { ...rulesOf(platform, world.client(platform)), room: () => Promise.resolve(null) };
      await using _registrar = startRegistrar(world, platform, { upstream });
      await fill(world, platform, ['ash']);
      world.bells.ring('slots');
      await eventually(async () => expect(await placed(world)).toEqual(['ash registered']), soon);
      await fill(world, platform, ['birch']);
      world.bells.ring('slots');
      await eventually(
        async () =>
          expect(await slotRows(world)).toMatchObject([
            { state: 'registered' },
            { state: 'failed', problem_kind: 'full', problem: expect.stringContaining('no source has room') },
          ]),
        soon,
      );
      expect(await capacityOf(world, `${platform}:main`)).toBe(1);
      await announce(world, `${platform}:main`, 1_000);
      const { outcome } = await beginRule(world.rules, { [platform]: 'cedar' });
      expect(outcome).toMatchObject({ kind: 'sources_full', platform });
    },
  );

  test('that reports room is still treated as full after a refusal', async () => {
    await using world = await openUpstreamWorld(template, xCap(1));
    await addTheirs(world, ['theirs']);
    const client = world.client('x');
    const upstream = { ...rulesOf('x', client), room: () => Promise.resolve(7) };
    await fill(world, 'x', ['ash', 'birch']);
    await using _registrar = startRegistrar(world, 'x', { upstream });
    await eventually(async () => expect(await placed(world)).toEqual(['ash failed', 'birch failed']), soon);
    expect(client.calls.filter(({ method }) => method === 'POST')).toHaveLength(1);
  });

  test('is tried again after an hour', async () => {
    await using world = await openUpstreamWorld(template);
    const learn = (minutes: number) =>
      world.database.run(
        `update sources set learnt_capacity = 1, capacity = 1, learnt_at = now() - $1 * interval '1 minute'
         where id = 'firehose:main'`,
        [minutes],
      );
    const client = world.client('firehose');
    const timing = { reconcileEveryMs: 20, learnCapacityEveryMs: 20 };
    await learn(59);
    await using _registrar = startRegistrar(world, 'firehose', {
      upstream: rulesOf('firehose', client, 100),
      timing,
    });
    await eventually(() => expect(client.calls.length).toBeGreaterThan(3), soon);
    expect(await capacityOf(world, 'firehose:main')).toBe(1);
    await learn(61);
    await eventually(async () => expect(await capacityOf(world, 'firehose:main')).toBe(1_000), soon);
  });
});
