import { eventually, type Template } from '@earshot/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { defaultPricing } from '../src/billing/prices.ts';
import { createCoverageStore } from '../src/coverage/coverage-store.sql.ts';
import { coverageOf } from '../src/coverage/ledger.ts';
import { createCoverageIntervals } from '../src/ingest/coverage-intervals.sql.ts';
import { createSourceStore } from '../src/ingest/source-store.sql.ts';
import { lockRule, pauseLocked } from '../src/rules/rule-changes.sql.ts';
import { createRuleStore } from '../src/rules/rule-store.sql.ts';
import { createRegistrarStore } from '../src/slots/registrar.sql.ts';
import { changeBy, completionOf } from './changes.ts';
import { slotRows, startRegistrar } from './registrar-support.ts';
import { createMigratedTemplate } from './support.ts';
import { beginRule, openUpstreamWorld, rulesOf } from './upstream-world.ts';

/** Slots that several accounts hold. Alice is `acc_2`, Bob `acc_1`. */

let template: Template;
beforeAll(async () => {
  template = await createMigratedTemplate();
});
afterAll(() => template?.[Symbol.asyncDispose]());

const soon = { timeoutMs: 60_000 };
const applyDelayMs = 20_000;

/** Alice has rules with these queries, registered for an hour; the stream is open. */
async function openShared(alices: readonly string[]) {
  await using stack = new AsyncDisposableStack();
  const world = stack.use(await openUpstreamWorld(template));
  const { database, rules } = world;
  await database.run(`insert into accounts (id, name, plan) values ('acc_2', 'two', 'paid')`);
  const client = world.client('x');
  const upstream = rulesOf('x', client);
  await createSourceStore(database).announce([
    {
      id: 'x:main',
      platform: 'x',
      capacity: 9,
      accountShare: 0.5,
      ruleDelayMs: applyDelayMs,
      rules: upstream,
    },
  ]);
  await createCoverageIntervals(database).openCoverage('x:main');
  await database.run(`update sources set state = 'live', live_until = now() + interval '1 hour'`);
  await database.run(`update coverage set proven_until = now() + interval '1 hour'`);
  const polls = { count: 0 };
  const store = createRegistrarStore(database, { ruleDelayMs: applyDelayMs });
  const counting = {
    ...store,
    mayHaveWork: (sourceId: string) => {
      polls.count++;
      return store.mayHaveWork(sourceId);
    },
  };
  const start = () =>
    startRegistrar(world, 'x', {
      upstream,
      store: counting,
      accountShare: 0.5,
      timing: { reconcileEveryMs: 600_000, pollIntervalMs: 10 },
    });
  const begin = (value: string, accountId = 'acc_1') =>
    beginRule(
      rules,
      { x: value },
      {
        accountId,
        completionOf: (ruleId) => completionOf(changeBy(accountId), ruleId),
      },
    );
  const registered = (count: number) =>
    eventually(async () => {
      const rows = await slotRows(world);
      expect(rows.filter(({ state }) => state === 'registered')).toHaveLength(count);
    }, soon);
  const first: string[] = [];
  for (const value of alices) {
    const { ruleId } = await begin(value, 'acc_2');
    first.push(ruleId);
  }
  {
    await using _registrar = start();
    await registered(alices.length);
  }
  for (const ruleId of first) await rules.activate(completionOf(changeBy('acc_2'), ruleId));
  await database.run(`update slots set registered_at = registered_at - interval '1 hour',
    confirmed_at = confirmed_at - interval '1 hour'`);
  await database.run(`update slot_services set from_at = from_at - interval '1 hour'`);
  await database.run(`delete from upstream_calls`);
  const all = stack.move();
  return {
    world,
    client,
    start,
    begin,
    registered,
    alices: first,
    /** Waits until the registrar has checked for work this many times more. */
    async polled(times: number) {
      const before = polls.count;
      await eventually(() => expect(polls.count).toBeGreaterThanOrEqual(before + times), soon);
    },
    values: async () => (await world.sandbox.xRules()).map(({ value }) => value).toSorted(),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

test('a rule on a slot of another account is active at once, without an upstream call, and covered from its creation', async () => {
  await using shared = await openShared(['ash']);
  await using _registrar = shared.start();
  await shared.polled(3);
  const callsBefore = shared.client.calls.length;
  const { ruleId, outcome } = await shared.begin('ash');
  expect(outcome).toMatchObject({ kind: 'begun', equivalentRuleId: null, answer: { rule_id: ruleId } });
  shared.world.bells.ring('slots');
  await shared.polled(5);
  expect(shared.client.calls).toHaveLength(callsBefore);
  expect(
    await shared.world.database.many('select 1 from upstream_calls where cardinality(accounts) > 0'),
  ).toEqual([]);
  const rule = await createRuleStore(shared.world.database).get('acc_1', ruleId);
  expect(rule?.platforms.x).toMatchObject({
    listening: { state: 'live', reason: null, since: rule?.created_at },
  });
  const createdMs = Date.parse(rule?.created_at ?? '');
  const ledger = await createCoverageStore(shared.world.database).read({
    accountId: 'acc_1',
    ruleId,
    platform: 'x',
    from: new Date(createdMs - 60_000),
    to: new Date(createdMs + 1),
  });
  const [covered] = coverageOf(ledger).flatMap(({ timeline }) =>
    timeline.filter(({ state }) => state === 'live'),
  );
  expect(covered?.from).toBe(createdMs);
});

test('a rule that joins a slot which the platform does not apply yet is starting until it does', async () => {
  await using shared = await openShared(['ash']);
  const { database } = shared.world;
  await database.run(`update slots set confirmed_at = now() - interval '5 seconds'`);
  const { ruleId } = await shared.begin('ash');
  const rule = await createRuleStore(database).get('acc_1', ruleId);
  const { listening } = rule?.platforms.x ?? {};
  expect(listening?.state).toBe('starting');
  const [slot] = await database.many<{ at: Date }>('select confirmed_at as at from slots');
  expect(Date.parse(listening?.since ?? '') - (slot?.at.getTime() ?? 0)).toBe(applyDelayMs);
});

test("joining a registered slot is not refused if the platform is full or the account's calls are used up", async () => {
  await using shared = await openShared(['ash', 'birch']);
  const { database } = shared.world;
  await database.run(`update sources set capacity = 2`);
  await database.run(
    `insert into upstream_calls (source_id, bucket, accounts)
     select id, calls_bucket, '{acc_1}' from sources, generate_series(1, calls_max) where platform = 'x'`,
  );
  expect((await shared.begin('elm')).outcome.kind).toBe('sources_full');
  await database.run(`update sources set capacity = 9`);
  expect((await shared.begin('elm')).outcome.kind).toBe('calls_share');
  expect((await shared.begin('ash')).outcome.kind).toBe('begun');
});

test("a slot that was refused is not registered again beyond the account's share of the calls", async () => {
  await using shared = await openShared(['ash']);
  const { database } = shared.world;
  await database.run(`update slots set state = 'failed', problem = 'no', problem_kind = 'refused'`);
  await database.run(
    `insert into upstream_calls (source_id, bucket, accounts)
     select id, calls_bucket, '{acc_1}' from sources, generate_series(1, calls_max) where platform = 'x'`,
  );
  expect((await shared.begin('ash')).outcome.kind).toBe('calls_share');
  await database.run('delete from upstream_calls');
  expect((await shared.begin('ash')).outcome.kind).toBe('begun');
});

test('an upstream rule is removed when the last account leaves it, and not before', async () => {
  await using shared = await openShared(['ash', 'birch']);
  const { rules, bells } = shared.world;
  const { ruleId } = await shared.begin('ash');
  await using _registrar = shared.start();
  const [alices = ''] = shared.alices;
  await rules.delete(changeBy('acc_2'), alices);
  bells.ring('slots');
  await shared.polled(5);
  expect(await shared.values()).toEqual(['ash', 'birch']);
  await rules.delete(changeBy('acc_1'), ruleId);
  bells.ring('slots');
  await eventually(async () => expect(await shared.values()).toEqual(['birch']), soon);
});

test('a rule that a budget paused is removed with reserved calls, if none is left for other removals', async () => {
  await using shared = await openShared(['ash', 'birch']);
  const { database, rules } = shared.world;
  const [ash = '', birch = ''] = shared.alices;
  await database.transaction(async (sql) => {
    const rule = await lockRule(sql, ash);
    if (!rule) throw new Error('the rule does not exist');
    await pauseLocked(sql, rule, changeBy('acc_2', null, 'StopForBudget'), {
      pricing: defaultPricing(),
      until: { reason: 'budget', resumesAt: null },
    });
  });
  await rules.delete(changeBy('acc_2'), birch);
  await database.run(
    `insert into upstream_calls (source_id, bucket) select id, calls_bucket from sources, generate_series(1, calls_max) where platform = 'x'`,
  );
  await using _registrar = shared.start();
  await eventually(async () => expect(await shared.values()).toEqual(['birch']), soon);
  await shared.polled(3);
  expect(await shared.values()).toEqual(['birch']);
});
