import type { Platform } from '@earshot/contract';
import { startSandbox } from '@earshot/sandbox';
import { eventually, type Template } from '@earshot/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createCoverageStore } from '../src/coverage/coverage-store.sql.ts';
import { createReadCoverage } from '../src/coverage/read-coverage.ts';
import { createLeaseStore } from '../src/engines/leases.ts';
import { createCoverageIntervals } from '../src/ingest/coverage-intervals.sql.ts';
import { listSources } from '../src/ingest/list-sources.ts';
import { createSourceStore } from '../src/ingest/source-store.sql.ts';
import { createMatchStore } from '../src/matching/match-store.sql.ts';
import { createRegistrarStore } from '../src/slots/registrar.sql.ts';
import { createDrainWorker } from '../src/slots/registrar-worker.ts';
import { createUpstreamClient, type UpstreamClient } from '../src/upstream/client.ts';
import { callOf } from './call-of.ts';
import { slotRows, startRegistrar } from './registrar-support.ts';
import { createSandboxControl } from './sandbox-control.ts';
import { createMigratedTemplate, silentLog, silentTelemetry } from './support.ts';
import {
  beginRule,
  byHand,
  openUpstreamWorld,
  rulesOf,
  runWorker,
  type UpstreamWorld,
} from './upstream-world.ts';

const soon = { timeoutMs: 100_000 };

let template: Template;
beforeAll(async () => {
  template = await createMigratedTemplate();
});
afterAll(() => template?.[Symbol.asyncDispose]());

const untilAll = (world: UpstreamWorld, state: string, count: number) =>
  eventually(async () => {
    const slots = await slotRows(world);
    expect(slots.filter((slot) => slot.state === state)).toHaveLength(count);
  }, soon);

/** Compares with the upstream's rules every moment; the upstream's limits would allow it every few seconds. */
const often = (platform: Platform, client: UpstreamClient) => ({
  upstream: rulesOf(platform, client, 1_000),
  timing: { reconcileEveryMs: 50 },
});

describe('the budget of rule calls', () => {
  // Windows of 60 s and 15 min pass in 2 s and 30 s.
  const pace = 30;

  test('more rules than a Firehose token allows in its window: all are registered, and Firehose never refuses a call', async () => {
    await using world = await openUpstreamWorld(template, { rateLimits: true, speed: pace });
    for (let n = 0; n < 90; n++) await beginRule(world.rules, { firehose: `word${n}` });
    const upstream = rulesOf('firehose', world.client('firehose'), pace);
    // A new holder in the middle knows the calls of the previous one.
    {
      await using _first = startRegistrar(world, 'firehose', { upstream });
      await eventually(async () => expect((await world.sandbox.tapRules()).length).toBeGreaterThan(40), soon);
    }
    await using _second = startRegistrar(world, 'firehose', { upstream });
    await untilAll(world, 'registered', 90);
    expect((await world.sandbox.tapCalls()).refused).toBe(0);
  });

  test('control: a registrar with a too generous limit is refused', async () => {
    // The window has its real length, so that a slow machine spends it as well.
    await using world = await openUpstreamWorld(template, { rateLimits: true });
    for (let n = 0; n < 90; n++) await beginRule(world.rules, { firehose: `word${n}` });
    const upstream = rulesOf('firehose', world.client('firehose'), pace * 100);
    await using _registrar = startRegistrar(world, 'firehose', { upstream });
    await eventually(async () => expect((await world.sandbox.tapCalls()).refused).toBeGreaterThan(0), soon);
  });

  test('a spent budget is stored: the next holder notifies the waiting rules, and sends no call', async () => {
    await using world = await openUpstreamWorld(template);
    await beginRule(world.rules, { x: 'word' });
    await world.database.run(
      `insert into upstream_calls (source_id, bucket) select 'x:main', 'change' from generate_series(1, 98)`,
    );
    const client = world.client('x');
    await using _registrar = startRegistrar(world, 'x', { upstream: rulesOf('x', client) });
    await eventually(async () => {
      expect(await slotRows(world)).toMatchObject([{ state: 'wanted', problem_kind: 'unavailable' }]);
    }, soon);
    expect(client.calls.filter(({ method }) => method !== 'GET')).toEqual([]);
  });
});

describe('a rule that vanished upstream', () => {
  test('is a gap in the coverage of its rules, and its first registration is kept', async () => {
    await using world = await openUpstreamWorld(template);
    const { ruleId } = await beginRule(world.rules, { x: 'word' });
    const registeredAt = () => world.database.one<{ registered_at: Date }>('select registered_at from slots');
    {
      await using _registrar = startRegistrar(world, 'x');
      await untilAll(world, 'registered', 1);
    }
    const first = await registeredAt();
    await world.sandbox.arm({ kind: 'rules_vanish', platform: 'x' });
    await world.sandbox.arm({ kind: 'rules_status', platform: 'x', method: 'POST', status: 503 });
    const intervals = createCoverageIntervals(world.database);
    await intervals.openCoverage('x:main');
    const coverage = () =>
      createReadCoverage({
        store: createCoverageStore(world.database),
        retentionDays: 30,
        nowMs: Date.now,
      })({ accountId: 'acc_1', ruleId, platform: null }).then(({ gaps }) =>
        gaps.filter(({ reason }) => reason === 'rule_missing'),
      );
    expect(await coverage()).toEqual([]);
    await using _registrar = startRegistrar(world, 'x');
    await eventually(
      async () => expect(await coverage()).toMatchObject([{ to: null, repaired: false }]),
      soon,
    );
    await eventually(async () => expect(await coverage()).toMatchObject([{ to: expect.any(String) }]), soon);
    expect(await registeredAt()).toEqual(first);
    const [gap] = await coverage();
    expect(Date.parse(gap?.to ?? '')).toBeGreaterThan(Date.parse(gap?.from ?? ''));
  });

  test('and is refused when it is registered again is retried later', async () => {
    await using world = await openUpstreamWorld(template);
    await beginRule(world.rules, { x: 'word' });
    {
      await using _registrar = startRegistrar(world, 'x');
      await untilAll(world, 'registered', 1);
    }
    await world.sandbox.arm({ kind: 'rules_vanish', platform: 'x' });
    await world.sandbox.arm({ kind: 'rule_refused', platform: 'x' });
    await using _registrar = startRegistrar(world, 'x', often('x', world.client('x')));
    await untilAll(world, 'failed', 1);
    const retry = await world.database.one<{ minutes: number }>(
      'select extract(epoch from retry_at - now())::float8 / 60 as minutes from slots',
    );
    expect(retry?.minutes).toBeCloseTo(1, 0);
    await world.database.run(`update slots set retry_at = now()`);
    await untilAll(world, 'registered', 1);
  });
});

test('a drained source keeps its rules until the new source has them', async () => {
  await using world = await openUpstreamWorld(template);
  await using second = await startSandbox({ rateLimits: false, ruleDelayMs: 0 });
  const there = createSandboxControl(second.url);
  await using client = createUpstreamClient({
    baseUrl: second.url,
    token: 'sandbox-x-token',
    name: 'second',
  });
  for (const value of ['ash', 'birch', 'cedar']) await beginRule(world.rules, { x: value });
  const announce = (draining: boolean) =>
    createSourceStore(world.database).announce([
      { id: 'x:main', platform: 'x', capacity: 10, draining },
      { id: 'x:second', platform: 'x', capacity: 2 },
    ]);
  await using _old = startRegistrar(world, 'x', often('x', world.client('x')));
  await untilAll(world, 'registered', 3);
  await announce(true);
  // The second one accepts two: one stays on the drained source.
  await untilAll(world, 'wanted', 2);
  expect(await world.sandbox.xRules()).toHaveLength(3);
  await using _new = startRegistrar(world, 'x', { sourceId: 'x:second', ...often('x', client) });
  await untilAll(world, 'registered', 3);
  expect(await there.xRules()).toHaveLength(2);
  // X needs a while until a rule is effective: until then both have it.
  expect(await world.sandbox.xRules()).toHaveLength(3);
  await world.database.run(`update slots set confirmed_at = now() - interval '21 seconds'`);
  await eventually(async () => expect(await world.sandbox.xRules()).toHaveLength(1), soon);
  expect(await there.xRules()).toHaveLength(2);
});

describe('a source whose token is gone', () => {
  /** Rules on `firehose:main`, one of them to be removed, and a sandbox with another Firehose token, `fh_next`. */
  async function openStranded() {
    await using stack = new AsyncDisposableStack();
    const world = stack.use(await openUpstreamWorld(template));
    const next = stack.use(
      await startSandbox({ rateLimits: false, ruleDelayMs: 0, taps: [{ token: 'fh_next' }] }),
    );
    const upstreamWith = (token: string) =>
      rulesOf('firehose', stack.use(createUpstreamClient({ baseUrl: next.url, token, name: token })));
    for (const value of ['ash', 'birch']) await beginRule(world.rules, { firehose: value });
    const released = await beginRule(world.rules, { firehose: 'cedar' });
    {
      await using _main = startRegistrar(world, 'firehose');
      await untilAll(world, 'registered', 3);
    }
    await world.rules.abandon(released.ruleId);
    const [dead, fresh] = [upstreamWith('fh_revoked'), upstreamWith('fh_next')];
    const announce = (name: string, draining = false) =>
      createSourceStore(world.database).announce([
        { id: `firehose:${name}`, platform: 'firehose', capacity: 10, draining },
      ]);
    const there = createSandboxControl(next.url);
    const rest = stack.move();
    return {
      world,
      dead,
      fresh,
      announce,
      startNext: async () => {
        await announce('next');
        return startRegistrar(world, 'firehose', { sourceId: 'firehose:next', upstream: fresh });
      },
      rulesOfNext: async () => (await there.tapRules()).map(({ value }) => value).toSorted(),
      [Symbol.asyncDispose]: () => rest.disposeAsync(),
    };
  }

  const listed = async ({ database }: UpstreamWorld) => {
    const { sources } = await listSources({ database })(callOf('ListSources', {}));
    return sources.map(({ platform, name, state }) => `${platform}:${name} ${state}`);
  };

  /** A healthy source is drained within its next comparison, after at most 30 s. */
  const asFastAsHealthy = { timeoutMs: 30_000 };

  test.each(['refused by the platform', 'not on this node'])(
    'is drained from the database alone: %s',
    async (how) => {
      await using stranded = await openStranded();
      const { world, dead } = stranded;
      const { database, bells } = world;
      await using _next = await stranded.startNext();
      if (how === 'refused by the platform') await stranded.announce('main', true);
      else
        expect(await createSourceStore(database).drain(['firehose:main', 'firehose:typo'])).toEqual([
          'firehose:main',
        ]);
      const common = { sourceId: 'firehose:main', bells, telemetry: silentTelemetry(), log: silentLog };
      await using _main =
        how === 'refused by the platform'
          ? startRegistrar(world, 'firehose', { upstream: dead })
          : runWorker(
              createDrainWorker({
                ...common,
                store: createRegistrarStore(database, { ruleDelayMs: 0 }),
                leases: createLeaseStore(database),
                node: 'node-2',
                leaseTtlMs: 5_000,
              }),
            );
      await eventually(
        async () => expect(await stranded.rulesOfNext()).toEqual(['ash', 'birch']),
        asFastAsHealthy,
      );
      await untilAll(world, 'registered', 2);
      expect(await database.many('select distinct source_id from slots')).toEqual([
        { source_id: 'firehose:next' },
      ]);
      expect(await listed(world)).toEqual(['firehose:next starting', 'x:main starting']);
    },
  );

  test('gets its rules on the new token if that has the old name', async () => {
    await using stranded = await openStranded();
    await using _main = startRegistrar(stranded.world, 'firehose', { upstream: stranded.fresh });
    await eventually(async () => expect(await stranded.rulesOfNext()).toEqual(['ash', 'birch']), soon);
  });

  test('is listed while it has rules, and no longer when the last one ends, unless a node runs it', async () => {
    await using world = await openUpstreamWorld(template);
    const { ruleId } = await beginRule(world.rules, { firehose: 'ash' });
    await world.database.run(`update sources set updated_at = now() - interval '11 minutes'`);
    expect(await listed(world)).toEqual(['firehose:main starting']);
    await world.rules.abandon(ruleId);
    expect(await listed(world)).toEqual([]);
    await using _registrar = startRegistrar(world, 'firehose');
    await eventually(async () => expect(await listed(world)).toEqual(['firehose:main starting']), soon);
  });
});

test('items from the former source belong to the moved slot, before the new source has its rule and after', async () => {
  await using world = await openUpstreamWorld(template);
  await using second = await startSandbox({
    rateLimits: false,
    ruleDelayMs: 0,
    taps: [{ token: 'fh_sandbox' }],
  });
  await using client = createUpstreamClient({ baseUrl: second.url, token: 'fh_sandbox', name: 'second' });
  await beginRule(world.rules, { firehose: 'cedar' });
  await using _old = startRegistrar(world, 'firehose', often('firehose', world.client('firehose')));
  await untilAll(world, 'registered', 1);
  const named = async (sourceId: string, rule: { id: string } | undefined) =>
    await createMatchStore(world.database).holdersOf({
      slotIds: [],
      upstreamRules: [{ sourceId, upstreamRuleId: String(rule?.id) }],
      searched: false,
    });
  const [former] = await world.sandbox.tapRules();
  const before = await named('firehose:main', former);
  expect(before).toMatchObject([{ sourceId: 'firehose:main', upstreamRuleId: former?.id }]);
  await createSourceStore(world.database).announce([
    { id: 'firehose:main', platform: 'firehose', capacity: 10, draining: true },
    { id: 'firehose:second', platform: 'firehose', capacity: 10 },
  ]);
  await untilAll(world, 'wanted', 1);
  expect(await named('firehose:main', former)).toEqual(before);
  await using _new = startRegistrar(world, 'firehose', {
    sourceId: 'firehose:second',
    ...often('firehose', client),
  });
  await untilAll(world, 'registered', 1);
  const [next] = await createSandboxControl(second.url).tapRules();
  expect(await named('firehose:second', next)).toHaveLength(1);
  expect(await named('firehose:main', former)).toEqual(before);
});

test('a drained source takes back a rule that was deleted by hand if no other source has room', async () => {
  await using world = await openUpstreamWorld(template);
  // It was announced with room, and has none.
  await using second = await startSandbox({
    rateLimits: false,
    ruleDelayMs: 0,
    taps: [{ token: 'fh_sandbox', ruleCap: 0 }],
  });
  await using client = createUpstreamClient({ baseUrl: second.url, token: 'fh_sandbox', name: 'second' });
  await beginRule(world.rules, { firehose: 'cedar' });
  await using _old = startRegistrar(world, 'firehose', often('firehose', world.client('firehose')));
  await untilAll(world, 'registered', 1);
  const [before] = await world.sandbox.tapRules();
  await createSourceStore(world.database).announce([
    { id: 'firehose:main', platform: 'firehose', capacity: 10, draining: true },
    { id: 'firehose:second', platform: 'firehose', capacity: 10 },
  ]);
  await untilAll(world, 'wanted', 1);
  await world.sandbox.arm({ kind: 'rules_vanish', platform: 'firehose' });
  expect(await world.sandbox.tapRules()).toEqual([]);
  await using _new = startRegistrar(world, 'firehose', {
    sourceId: 'firehose:second',
    ...often('firehose', client),
  });
  await eventually(async () => {
    const [after] = await world.sandbox.tapRules();
    expect(after).toMatchObject({ tag: before?.tag });
  }, soon);
  await untilAll(world, 'registered', 1);
  // It was missing, and the ledger has the gap.
  expect(await world.database.many('select to_at is not null as over from slot_gaps')).toEqual([
    { over: true },
  ]);
});

test('a rule that lost its place to others is served by a drained source if no other has room', async () => {
  await using world = await openUpstreamWorld(template);
  await using second = await startSandbox({
    rateLimits: false,
    ruleDelayMs: 0,
    taps: [{ token: 'fh_sandbox', ruleCap: 1 }],
  });
  const there = createSandboxControl(second.url);
  await using client = createUpstreamClient({ baseUrl: second.url, token: 'fh_sandbox', name: 'second' });
  const upstream = rulesOf('firehose', client);
  await createSourceStore(world.database).announce([
    { id: 'firehose:main', platform: 'firehose', capacity: 10, draining: true },
    { id: 'firehose:second', platform: 'firehose', capacity: 10 },
  ]);
  await beginRule(world.rules, { firehose: 'birch' });
  const startSecond = () =>
    startRegistrar(world, 'firehose', { sourceId: 'firehose:second', ...often('firehose', client) });
  await using _drained = startRegistrar(world, 'firehose');
  {
    await using _new = startSecond();
    await untilAll(world, 'registered', 1);
  }
  expect(await world.sandbox.tapRules()).toEqual([]);
  await there.arm({ kind: 'rules_vanish', platform: 'firehose' });
  await upstream.add([{ value: 'theirs', tag: 'theirs' }], byHand);
  await using _again = startSecond();
  await eventually(async () => expect(await world.sandbox.tapRules()).toHaveLength(1), soon);
  await untilAll(world, 'registered', 1);
  expect((await there.tapRules()).map(({ tag }) => tag)).toEqual(['theirs']);
});
