import { setTimeout as sleep } from 'node:timers/promises';
import type { Platform } from '@earshot/contract';
import { eventually, type Template } from '@earshot/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { defaultPrices } from '../src/billing/prices.ts';
import { createSourceStore } from '../src/ingest/source-store.sql.ts';
import { lockRule, pauseLocked } from '../src/rules/rule-changes.sql.ts';
import { accountUse } from '../src/slots/fair-share.sql.ts';
import type { UpstreamRules } from '../src/upstream/upstream-rules.ts';
import { changeBy, created } from './changes.ts';
import { startRegistrar } from './registrar-support.ts';
import { createMigratedTemplate } from './support.ts';
import { beginRule, openUpstreamWorld, rulesOf } from './upstream-world.ts';

/*
 * What Bob (`acc_1`) uses of what all accounts share must not depend on whether Alice (`acc_2`) watches the same values: a
 * limit that comes later, or moves, would tell.
 */

let template: Template;
beforeAll(async () => {
  template = await createMigratedTemplate();
});
afterAll(() => template?.[Symbol.asyncDispose]());

const soon = { timeoutMs: 60_000 };

function slowly(upstream: UpstreamRules, callMs: number): UpstreamRules {
  return {
    ...upstream,
    add: (...asked) => sleep(callMs).then(() => upstream.add(...asked)),
    remove: (...asked) => sleep(callMs).then(() => upstream.remove(...asked)),
  };
}

/** Alice watches these values, and is served; the share of an account is half. */
async function openShares(
  platform: Platform,
  alices: readonly string[],
  { capacity = 9, callMs = 0 }: { capacity?: number; callMs?: number } = {},
) {
  await using stack = new AsyncDisposableStack();
  const world = stack.use(await openUpstreamWorld(template));
  const { database, rules } = world;
  await database.run(`insert into accounts (id, name, plan) values ('acc_2', 'two', 'paid')`);
  const upstream = slowly(rulesOf(platform, world.client(platform)), callMs);
  await createSourceStore(database).announce([
    { id: `${platform}:main`, platform, capacity, accountShare: 0.5, rules: upstream },
  ]);
  /** Compares once, at its start: when it compares again is not our matter. */
  const start = () =>
    startRegistrar(world, platform, {
      upstream,
      accountShare: 0.5,
      timing: { reconcileEveryMs: 600_000, lookAgainMs: 100 },
    });
  const begin = (value: string, accountId = 'acc_1') =>
    beginRule(rules, { [platform]: value }, { accountId });
  const settled = async () => {
    await eventually(
      async () =>
        expect(
          await database.many(
            `select rule_id from slot_holders where served_since is null union all select slot_id from slot_leavings`,
          ),
        ).toEqual([]),
      soon,
    );
  };
  for (const value of alices) await begin(value, 'acc_2');
  {
    await using _registrar = start();
    await settled();
  }
  const all = stack.move();
  return {
    database,
    upstream: () => (platform === 'x' ? world.sandbox.xRules() : world.sandbox.tapRules()),
    start,
    begin,
    settled,
    async create(value: string) {
      const { ruleId, outcome } = await begin(value);
      expect(outcome.kind).toBe('begun');
      world.bells.ring('slots');
      await settled();
      await rules.activate(changeBy('acc_1'), created(ruleId));
      return ruleId;
    },
    async leave(ruleId: string) {
      await rules.delete(changeBy('acc_1'), ruleId);
      world.bells.ring('slots');
    },
    /** As a budget that is reached does. */
    stop: (ruleId: string) =>
      database.transaction(async (sql) => {
        const rule = await lockRule(sql, ruleId);
        if (!rule) throw new Error('there is no such rule');
        const change = changeBy(rule.account_id, null, 'StopForBudget');
        await pauseLocked(sql, rule, change, {
          prices: defaultPrices(),
          until: { reason: 'budget', resumesAt: null },
        });
      }),
    leavings: async () =>
      (
        await database.many<{ value: string }>(
          `select value from slot_leavings join slots on slots.id = slot_id where account_id = 'acc_1' order by value`,
        )
      ).map(({ value }) => value),
    /** Only the reserve is left; one call less where the registrar's first list counts, too. */
    useUpCalls: () =>
      database.run(
        `insert into upstream_calls (source_id, bucket)
         select id, calls_bucket from sources, generate_series(1, calls_max - $2::integer
           - (select count(*) from upstream_calls where source_id = sources.id and bucket = calls_bucket)::integer)
         where platform = $1`,
        [platform, upstream.limits.read.bucket === upstream.limits.change.bucket ? 1 : 0],
      ),
    /** What decides over Bob's next value. */
    async use() {
      const { sources, taken } = await database.transaction(async (sql) => {
        await sql.many('select lock_sources($1)', [platform]);
        return await accountUse(sql, 'acc_1', platform);
      });
      const [source] = sources;
      return { ...taken, calls: source?.calls, ownCalls: source?.ownCalls, waiting: source?.ownWaiting };
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

/** All that Bob does and can see of his shares, step by step. */
async function bobsWay(platform: Platform, alices: readonly string[]) {
  await using shares = await openShares(platform, alices);
  const seen: unknown[] = [];
  const see = async (step: string) => seen.push({ step, ...(await shares.use()) });
  const ask = async (value: string) => seen.push((await shares.begin(value)).outcome);
  await see('he has nothing');
  await ask('ash');
  await ask('birch');
  await see('two of his values wait');
  let last: string;
  {
    await using _registrar = shares.start();
    await shares.settled();
    await see('two of his values are served');
    last = await shares.create('cedar');
    await see('a third is served');
    await ask('elm');
    await shares.leave(last);
    await shares.settled();
    await see('he has left the third');
    last = await shares.create('cedar');
    await see('he has it again');
  }
  await shares.leave(last);
  await see('he has left it, and it is not removed yet');
  await ask('elm');
  await ask('cedar');
  await see('he has taken it back');
  await using _registrar = shares.start();
  await shares.settled();
  await see('it is served again');
  return { seen, upstream: (await shares.upstream()).length };
}

describe.for(['x', 'firehose'] as const)('on %s', (platform) => {
  test('what others watch too uses up the shares of an account like what it has alone', async () => {
    const alone = await bobsWay(platform, ['oak', 'pine', 'yew']);
    const shared = await bobsWay(platform, ['ash', 'birch', 'cedar']);
    expect(shared.seen).toEqual(alone.seen);
    expect([alone.upstream, shared.upstream]).toEqual([6, 3]);
    expect(alone.seen).toContainEqual({ kind: 'slots_share', limit: 3, used: 3, platform });
  });

  test('an account that has used its share of the calls is refused what others watch like what is new, but not its own', async () => {
    await using shares = await openShares(platform, ['ash', 'pine', 'yew']);
    await using _registrar = shares.start();
    await shares.create('birch');
    await shares.database.run(
      `insert into upstream_calls (source_id, bucket, accounts)
       select id, calls_bucket, '{acc_1}' from sources, generate_series(1, calls_max / 2) where platform = $1`,
      [platform],
    );
    const [known, fresh, own] = [
      (await shares.begin('ash')).outcome,
      (await shares.begin('elm')).outcome,
      (await shares.begin('birch')).outcome,
    ];
    expect([known, fresh].map(({ kind }) => kind)).toEqual(['calls_share', 'calls_share']);
    expect(own.kind).toBe('begun');
  });

  test('when no upstream rule is left, what others watch is refused like what is new, but not what is its own', async () => {
    await using shares = await openShares(platform, ['ash', 'pine'], { capacity: 3 });
    await using _registrar = shares.start();
    await shares.create('birch');
    const fresh = (await shares.begin('elm')).outcome;
    expect(fresh).toEqual({ kind: 'sources_full', platform, capacity: 3 });
    expect((await shares.begin('ash')).outcome).toEqual(fresh);
    expect((await shares.begin('birch')).outcome.kind).toBe('begun');
  });

  test('a stop is removed although no call is left for anything else, alone or with others', async () => {
    const stopped = async (alices: readonly string[]) => {
      await using shares = await openShares(platform, alices);
      let rules: string[];
      {
        await using _registrar = shares.start();
        rules = [await shares.create('ash'), await shares.create('birch')];
      }
      // Waits for a call, as others do.
      expect((await shares.begin('elm', 'acc_2')).outcome.kind).toBe('begun');
      await shares.useUpCalls();
      const [ash = '', birch = ''] = rules;
      await shares.leave(birch);
      await shares.stop(ash);
      const before = await shares.use();
      await using _registrar = shares.start();
      await eventually(async () => expect(await shares.leavings()).toEqual(['birch']), soon);
      const { calls = 0, ...after } = await shares.use();
      const upstream = (await shares.upstream()).map(({ value }) => value).toSorted();
      return { seen: { ...after, spent: calls - (before.calls ?? 0) }, upstream };
    };
    const alone = await stopped(['oak', 'pine']);
    const shared = await stopped(['ash', 'birch']);
    expect(shared.seen).toEqual(alone.seen);
    expect([alone.upstream, shared.upstream]).toEqual([
      ['birch', 'oak', 'pine'],
      ['ash', 'birch'],
    ]);
  });

  test('taking and leaving what others watch keeps the registrar as busy as a registration and a removal', async () => {
    const callMs = 400;
    await using shares = await openShares(platform, ['ash'], { callMs });
    await using _registrar = shares.start();
    // One of each for real, from which it learns how long they take.
    await shares.leave(await shares.create('birch'));
    await shares.settled();
    let startedAt = performance.now();
    const rule = await shares.create('ash');
    const takingMs = performance.now() - startedAt;
    startedAt = performance.now();
    await shares.leave(rule);
    await shares.settled();
    const leavingMs = performance.now() - startedAt;
    expect(Math.min(takingMs, leavingMs)).toBeGreaterThan(callMs * 0.9);
    expect((await shares.upstream()).map(({ value }) => value)).toEqual(['ash']);
  });
});
