import type { Platform } from '@earshot/contract';
import { eventually, type Template } from '@earshot/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { defaultPrices } from '../src/billing/prices.ts';
import { capStream } from '../src/budgets/cap-stream.ts';
import { type Caps, createInstallationBudget } from '../src/budgets/installation-budget.ts';
import { createRepairWorker } from '../src/coverage/repair-worker.ts';
import { createLeaseStore } from '../src/engines/leases.ts';
import { createNoticeReader } from '../src/notices/notice-reader.sql.ts';
import { createMetrics } from '../src/observability/metrics.ts';
import { firehoseProtocol } from '../src/upstream/firehose/platform.ts';
import { addRule, coverage, createMemoryLog, open, soon, startIngest } from './ingest-support.ts';
import { createMigratedTemplate, silentLog, silentTelemetry } from './support.ts';
import { openUpstreamWorld, runWorker, streamOf, type UpstreamWorld } from './upstream-world.ts';

let template: Template;
beforeAll(async () => {
  template = await createMigratedTemplate();
});
afterAll(() => template?.[Symbol.asyncDispose]());

function budgetOf(
  { database }: UpstreamWorld,
  caps: Partial<Caps>,
  { uncounted = (): number => 0, now = () => new Date() } = {},
) {
  const budget = createInstallationBudget({
    database,
    prices: defaultPrices(),
    caps: { day: null, month: null, ...caps },
    metrics: createMetrics(),
    uncounted: async () => uncounted(),
    itemUsdMax: 0.005,
    now,
  });
  if (!budget) throw new Error('there is no budget');
  return budget;
}

/** Bills the source for posts, today or on another day. */
const bill = ({ database }: UpstreamWorld, posts: number, day: string | null = null) =>
  database.run(
    `insert into source_usage (source_id, day, kind, at_least, at_most)
     values ('x:main', coalesce($2::date, (now() at time zone 'UTC')::date), 'post', 1, $1)
     on conflict (source_id, day, kind) do update set at_most = source_usage.at_most + excluded.at_most`,
    [posts, day],
  );

const stateOf = async ({ database }: UpstreamWorld, platform: Platform) =>
  (await database.one<{ state: string }>('select state from sources where id = $1', [`${platform}:main`]))
    ?.state;

const capped = (world: UpstreamWorld, platform: Platform, budget: ReturnType<typeof budgetOf>) =>
  capStream(streamOf(platform, world.client(platform)), {
    budget,
    itemUsdMax: 0.005,
    sources: async () => 1,
    nowMs: Date.now,
    pollIntervalMs: 50,
  });

test('the bill is counted from the start of the day and month, at the highest possible price', async () => {
  await using world = await openUpstreamWorld(template);
  const now = () => new Date('2026-11-16T10:00:00Z');
  await bill(world, 100, '2026-11-16');
  await bill(world, 50, '2026-11-15');
  await bill(world, 70, '2026-10-31');
  const budgetWith = (caps: Partial<Caps>, uncounted = (): number => 0) =>
    budgetOf(world, caps, { uncounted, now }).read();
  expect((await budgetWith({ day: 2, month: 3 })).remainingUsd).toBeCloseTo(1.5);
  expect((await budgetWith({ month: 3 })).remainingUsd).toBeCloseTo(2.25);
  expect((await budgetWith({ day: 0.5 })).reached).toMatchObject({ isSure: true });
  expect((await budgetWith({ day: 0.51 })).reached).toBeNull();
  const { remainingUsd, reached } = await budgetWith({ day: 0.6 }, () => 30);
  expect([remainingUsd < 0, reached?.isSure]).toEqual([true, false]);
});

test('a burst is at risk before it is spent', async () => {
  await using world = await openUpstreamWorld(template);
  const budget = budgetOf(world, { day: 10 });
  await bill(world, 1);
  expect((await budget.read()).reached).toBeNull();
  // $2 in less than ten seconds: $14 in the 70 s that X may need.
  await bill(world, 400);
  expect((await budget.read()).reached).toMatchObject({ isSure: true });
});

describe('at the cap', () => {
  test('the stream is closed, the ledger has the reason, and owners of rules there get a notice without amounts', async () => {
    await using world = await openUpstreamWorld(template);
    await addRule(world, 'x');
    await world.database.run(`insert into accounts (id, name, plan) values ('acc_2', 'two', 'paid')`);
    await world.database.run(
      `insert into rules (id, account_id, name, intent, state) values ('rule_1', 'acc_1', 'rule', 'test', 'active')`,
    );
    await world.database.run(
      `insert into slots (id, platform, source_id, value, value_hash, state) values ('slot_1', 'x', 'x:main', 'v', 'h', 'registered')`,
    );
    await world.database.run(
      `insert into slot_holders (slot_id, rule_id, account_id, platform, rule_version, served_since)
       values ('slot_1', 'rule_1', 'acc_1', 'x', 1, now())`,
    );
    const notices = (accountId: string) =>
      createNoticeReader(world.database).read({
        accountId,
        open: false,
        order: 'oldest',
        from: null,
        limit: 9,
      });
    {
      const upstream = capped(world, 'x', budgetOf(world, { day: 2 }));
      await using ingest = startIngest(world, 'x', createMemoryLog(), { upstream });
      await open(world, 'x');
      await eventually(async () => expect(await coverage(world)).toEqual([{ ended_because: null }]), soon);
      await bill(world, 400);
      await eventually(async () => expect(await stateOf(world, 'x')).toBe('budget'), soon);
      expect(await coverage(world)).toEqual([{ ended_because: 'budget' }]);
      expect(await ingest.endings()).toEqual(['budget']);
      expect(await world.sandbox.xStreams()).toBe(0);
      const raised = await notices('acc_1');
      const midnight = new Date(Math.ceil(Date.now() / 86_400_000) * 86_400_000).toISOString();
      expect(raised.map(({ notice: { type, data } }) => ({ type, data }))).toEqual([
        {
          type: 'budget.reached',
          data: { budget: 'installation', on_reached: 'pause', resets_at: midnight, platform: 'x' },
        },
      ]);
      expect(raised[0]?.notice.what_to_do).not.toMatch(/\$|usd/i);
      expect(await notices('acc_2')).toEqual([]);
    }
    const upstream = capped(world, 'x', budgetOf(world, { day: 3 }));
    await using _ingest = startIngest(world, 'x', createMemoryLog(), { upstream });
    await eventually(
      async () => expect((await notices('acc_1')).at(-1)?.notice.resolved_at).not.toBeNull(),
      soon,
    );
  });

  test('Firehose delivers exactly what is paid for', async () => {
    await using world = await openUpstreamWorld(template);
    await addRule(world, 'firehose');
    const log = createMemoryLog();
    // All events in the log are still to be counted.
    const budget = budgetOf(world, { day: 0.0251 }, { uncounted: () => log.entries.length });
    // Only the request at the opening counts: the check of an open stream runs once an hour.
    const unwatched = capStream(streamOf('firehose', world.client('firehose')), {
      budget,
      itemUsdMax: 0.005,
      sources: async () => 1,
      nowMs: Date.now,
      pollIntervalMs: 3_600_000,
    });
    const waits = { ...firehoseProtocol.waits, planned: { grows: 'not', firstMs: 50, maxMs: 50 } } as const;
    await using ingest = startIngest(world, 'firehose', log, {
      upstream: unwatched,
      protocol: { ...firehoseProtocol, waits },
    });
    await open(world, 'firehose');
    await world.sandbox.pages(Array.from({ length: 12 }, (_, n) => `rocket ${n}`));
    await eventually(async () => expect(await stateOf(world, 'firehose')).toBe('budget'), soon);
    expect(log.entries).toHaveLength(5);
    expect(await ingest.endings()).toEqual(['finished', 'budget']);
  });
});

test('a gap from the cap is not searched in the next period', async () => {
  await using world = await openUpstreamWorld(template);
  const gap = (id: number, reason: string) => ({
    id,
    from: new Date(0),
    to: new Date(1),
    planned: false,
    reason,
  });
  const [settled, repaired]: [number[], number[]] = [[], []];
  await using _worker = runWorker(
    createRepairWorker({
      sourceId: 'x:main',
      store: {
        openGaps: async () => (settled.length > 0 ? [] : [gap(1, 'budget'), gap(2, 'dropped')]),
        settleWhole: async (_lease, { id }) => void settled.push(id),
      },
      repair: async (work) => repaired.push(work.gap.id) > 0,
      leases: createLeaseStore(world.database),
      node: 'node-1',
      leaseTtlMs: 5_000,
      pace: 1,
      telemetry: silentTelemetry(),
      log: silentLog,
    }),
  );
  await eventually(() => expect([settled, repaired]).toEqual([[1], [2]]), soon);
});
