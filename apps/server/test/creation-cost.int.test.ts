import { eventually, type Template } from '@earshot/testkit';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Claim } from '../src/accounts/change.ts';
import { createClaimStore } from '../src/accounts/idempotency.ts';
import type { Database, Sql } from '../src/engines/database.ts';
import { createSourceStore } from '../src/ingest/source-store.sql.ts';
import { createRuleStore } from '../src/rules/rule-store.sql.ts';
import { changeBy, completionOf } from './changes.ts';
import { createMigratedTemplate, openTestDatabase } from './support.ts';
import { beginRule } from './upstream-world.ts';

let template: Template;
beforeAll(async () => {
  template = await createMigratedTemplate();
});
afterAll(() => template?.[Symbol.asyncDispose]());

/** Counts statements that go to the server; a transaction is two more. */
function countStatements(database: Database) {
  const counter = { statements: 0 };
  const counted = (sql: Sql): Sql => ({
    many: (...args) => (counter.statements++, sql.many(...args)),
    one: (...args) => (counter.statements++, sql.one(...args)),
    prepared: (...args) => (counter.statements++, sql.prepared(...args)),
    run: (...args) => (counter.statements++, sql.run(...args)),
  });
  const counting: Database = {
    ...database,
    ...counted(database),
    transaction(work) {
      counter.statements += 2;
      return database.transaction((sql) => work(counted(sql)));
    },
    forRuleChange: (accountId) => ({
      transaction(work) {
        counter.statements += 2;
        return database.forRuleChange(accountId).transaction((sql) => work(counted(sql)));
      },
    }),
  };
  return { counting, counter };
}

async function openRules() {
  await using stack = new AsyncDisposableStack();
  const clone = stack.use(await template.clone());
  const database = stack.use(openTestDatabase(clone.url, 20));
  await database.run(
    `insert into accounts (id, name, plan) values ('acc_1', 'one', 'paid'), ('acc_2', 'two', 'paid')`,
  );
  await createSourceStore(database).announce([
    { id: 'x:main', platform: 'x', capacity: 10_000 },
    { id: 'firehose:main', platform: 'firehose', capacity: 10_000 },
  ]);
  const { counting, counter } = countStatements(database);
  const store = createRuleStore(counting);
  const all = stack.move();
  return {
    url: clone.url,
    database,
    store,
    counter,
    /** A rule of `acc_2` whose slots are registered and live. */
    async register(values: { x?: string; firehose?: string }) {
      const { ruleId } = await beginRule(store, values, { accountId: 'acc_2' });
      await database.run(`update slots set state = 'registered', upstream_rule_id = 'up_' || value`);
      await database.run(`update sources set live_until = now() + interval '1 minute'`);
      await store.activate(completionOf(changeBy('acc_2'), ruleId));
      return ruleId;
    },
    /** As the API creates a rule when all its slots are registered: write, check when it is served, activate. */
    async create(
      values: { x?: string; firehose?: string },
      { claim = null, premiumRulesMax = 1_000 }: { claim?: Claim | null; premiumRulesMax?: number } = {},
    ) {
      const { ruleId: id, outcome } = await beginRule(store, values, { premiumRulesMax });
      if (outcome.kind !== 'begun') return { id, outcome, slots: [], activated: false };
      const slots = await store.slotStates(id);
      const registered = slots.every(({ state }) => state === 'registered');
      const activated = registered && (await store.activate(completionOf(changeBy('acc_1', claim), id)));
      return { id, outcome, slots, activated };
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

describe('a rule with registered queries', () => {
  test('is active after a few statements, with all that belongs to it', async () => {
    await using rules = await openRules();
    await rules.register({ x: 'word', firehose: 'word' });
    const first = await rules.create({ x: 'word', firehose: 'word' });
    rules.counter.statements = 0;
    const { id, outcome, slots, activated } = await rules.create({ x: 'word', firehose: 'word' });
    // Two for the transaction, the count, the equal rule, two per slot; one check; one to activate.
    expect(rules.counter.statements).toBeLessThanOrEqual(10);
    expect(outcome).toEqual({ kind: 'begun', equivalentRuleId: first.id, answer: null });
    expect(activated).not.toBeNull();
    expect(slots).toMatchObject([
      { platform: 'x', state: 'registered', live: true },
      { platform: 'firehose', state: 'registered', live: true },
    ]);
    expect(
      await rules.database.many('select state, version, account_id from rules where id = $1', [id]),
    ).toEqual([{ state: 'active', version: 1, account_id: 'acc_1' }]);
    expect(
      await rules.database.many('select account_id, operation, request_id from audit where target_id = $1', [
        id,
      ]),
    ).toEqual([{ account_id: 'acc_1', operation: 'CreateRule', request_id: 'req_1' }]);
  });

  test('is active with its first transaction, also if only another account holds its slots', async () => {
    await using rules = await openRules();
    await rules.register({ x: 'word', firehose: 'word' });
    const shown: string[] = [];
    const begin = () =>
      beginRule(
        rules.store,
        { x: 'word', firehose: 'word' },
        {
          completionOf: (ruleId) => {
            const completion = completionOf(changeBy('acc_1'), ruleId);
            return {
              ...completion,
              answer(rule, equivalentRuleId) {
                const ids = Object.values(rule.platforms).flatMap((one) => one?.platform_rule_id ?? []);
                shown.push(equivalentRuleId ?? '', ...ids);
                return completion.answer(rule, equivalentRuleId);
              },
            };
          },
        },
      );
    rules.counter.statements = 0;
    const { ruleId, outcome } = await begin();
    // Two for the transaction, the count, the equal rule, two per slot, one to activate.
    expect(rules.counter.statements).toBeLessThanOrEqual(9);
    expect(outcome).toMatchObject({
      kind: 'begun',
      equivalentRuleId: null,
      answer: { rule_id: ruleId, state: 'active' },
    });
    const versions = await rules.database.many<{ platform_rule_id: string }>(
      'select platform_rule_id from rule_versions where rule_id = $1 order by platform desc',
      [ruleId],
    );
    expect(shown).toEqual(['', ...versions.map(({ platform_rule_id }) => platform_rule_id)]);
    const rows = await rules.database.many(
      `select state, (select count(*) from audit where target_id = rules.id) as audited,
         (select count(*) from watches where rule_id = rules.id) as watches
       from rules where id = $1`,
      [ruleId],
    );
    expect(rows).toEqual([{ state: 'active', audited: 1, watches: 2 }]);
    await rules.database.run(`update sources set live_until = now() where platform = 'x'`);
    expect((await begin()).outcome).toMatchObject({ kind: 'begun', answer: null });
  });

  test('names an equal rule of the same account, the oldest, also a paused one, and no other', async () => {
    await using rules = await openRules();
    await rules.register({ x: 'word', firehose: 'word' });
    const named = async (values: { x?: string; firehose?: string }) => {
      const { outcome } = await rules.create(values);
      return outcome.kind === 'begun' ? outcome.equivalentRuleId : undefined;
    };
    const first = await rules.create({ x: 'word' });
    expect(await named({ x: 'word', firehose: 'word' })).toBeNull();
    expect(await named({ x: 'word' })).toBe(first.id);
    expect(await named({ x: 'word' })).toBe(first.id);
    await rules.database.run(`update rules set state = 'paused' where id = $1`, [first.id]);
    await rules.database.run('delete from slot_holders where rule_id = $1', [first.id]);
    expect(await named({ x: 'word' })).toBe(first.id);
  });

  test('is refused with the exact number if there is no room, and created when others are deleted', async () => {
    await using rules = await openRules();
    await rules.register({ x: 'word' });
    const create = () => rules.create({ x: 'word' }, { premiumRulesMax: 3 });
    const [first, second] = [await create(), await create(), await create()];
    expect((await create()).outcome).toEqual({ kind: 'premium_limit', used: 3 });
    for (const { id } of [first, second]) await rules.store.delete(changeBy('acc_1'), id);
    const again = [await create(), await create()].map(({ outcome }) => outcome.kind);
    expect(again).toEqual(['begun', 'begun']);
    expect((await create()).outcome).toEqual({ kind: 'premium_limit', used: 3 });
  });

  test('is not counted together with all others of the account while there is room', async () => {
    await using rules = await openRules();
    await rules.register({ x: 'word' });
    await rules.create({ x: 'word' }, { premiumRulesMax: 1_000_000 });
    await rules.database.run(
      `with made as (
         insert into rules (id, account_id, name, intent, state)
         select 'rule_' || n, 'acc_1', '', '', 'active' from generate_series(1, 5000) as n returning id
       )
       insert into slot_holders (slot_id, rule_id, account_id, platform, rule_version)
       select (select id from slots limit 1), id, 'acc_1', 'x', 1 from made`,
    );
    const pagesOf = async (call: string) => {
      const [plan] = await rules.database.many<{ 'QUERY PLAN': [{ Plan: Record<string, number> }] }>(
        `explain (analyze, buffers, format json) select ${call}`,
      );
      return plan?.['QUERY PLAN'][0].Plan['Shared Hit Blocks'] ?? Number.NaN;
    };
    const counting = await pagesOf(`count_rules_on('{x}', 'acc_1')`);
    expect(await pagesOf(`premium_rules_reached('{x}', 'acc_1', 1000000)`)).toBeLessThan(counting / 10);
  });

  test('does not use a slot that its last holder is leaving', async () => {
    await using rules = await openRules();
    const last = await rules.register({ x: 'word' });
    const leaver = new Client({ connectionString: rules.url });
    await leaver.connect();
    try {
      await leaver.query('begin');
      await leaver.query('select 1 from slots for update');
      await leaver.query('delete from slot_holders where rule_id = $1', [last]);
      await leaver.query(`update slots set state = 'releasing', upstream_rule_id = null`);
      const creation = beginRule(rules.store, { x: 'word' });
      await eventually(
        async () => {
          const waiting = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
          expect(await rules.database.many(waiting)).toHaveLength(1);
        },
        { timeoutMs: 20_000 },
      );
      await leaver.query('commit');
      expect((await creation).outcome.kind).toBe('begun');
    } finally {
      await leaver.end();
    }
    expect(await rules.database.many('select state from slots')).toEqual([{ state: 'wanted' }]);
  });

  test('is not created if another attempt took its Idempotency-Key over', async () => {
    await using rules = await openRules();
    await rules.register({ x: 'word' });
    const claims = createClaimStore(rules.database);
    const request = { accountId: 'acc_1', operation: 'CreateRule', fingerprint: Buffer.from('same') };
    const claim = { key: 'once', attempt: 'try_2' };
    expect(await claims.claim(request, claim)).toEqual({ kind: 'first' });
    await expect(
      rules.create({ x: 'word' }, { claim: { key: 'once', attempt: 'try_1' } }),
    ).rejects.toMatchObject({ code: 'aborted' });
    expect(
      await rules.database.many(`select 1 from rules where account_id = 'acc_1' and state <> 'creating'`),
    ).toEqual([]);
    const taken = changeBy('acc_1', { key: 'once', attempt: 'try_1' });
    await expect(
      beginRule(rules.store, { x: 'word' }, { completionOf: (ruleId) => completionOf(taken, ruleId) }),
    ).rejects.toMatchObject({ code: 'aborted' });
    const { id } = await rules.create({ x: 'word' }, { claim });
    expect(await claims.claim(request, { ...claim, attempt: 'try_3' })).toEqual({
      kind: 'answered',
      body: expect.stringContaining(`"rule_id":"${id}"`),
    });
  });
});

test('a hundred creations woken by the same wake-up become active in a few statements', async () => {
  await using rules = await openRules();
  const begun = await Promise.all(
    Array.from({ length: 100 }, (_, n) => beginRule(rules.store, { x: `word${n}` })),
  );
  // Each takes another slot in one transaction.
  expect(rules.counter.statements).toBeLessThanOrEqual(8 * begun.length);
  // So that `slotStates` returns something different for each slot.
  await rules.database.run('update slots set problem = value');
  rules.counter.statements = 0;
  const seen = await Promise.all(begun.map(({ ruleId }) => rules.store.slotStates(ruleId)));
  expect(rules.counter.statements).toBeLessThanOrEqual(3);
  expect(seen.map(([slot]) => slot?.problem)).toEqual(begun.map((_, n) => `word${n}`));
  await rules.store.abandon(begun[7]?.ruleId ?? '');
  rules.counter.statements = 0;
  const activated = await Promise.all(
    begun.map(({ ruleId }) => rules.store.activate(completionOf(changeBy('acc_1'), ruleId))),
  );
  expect(activated.map((answer) => answer !== null)).toEqual(begun.map((_, n) => n !== 7));
  expect(rules.counter.statements).toBeLessThanOrEqual(3);
  expect(await rules.database.many('select 1 from audit')).toHaveLength(99);
});

test('slots of a source are counted without a scan while slots come, go and move', async () => {
  await using rules = await openRules();
  const { database, store } = rules;
  const isRight = async () => {
    const rows = await database.many<{ counted: number; there: number }>(
      `select slots - coalesce((select sum(slots) from slot_departures where source_id = sources.id), 0)::integer as counted,
         (select count(*) from slots where source_id = sources.id) as there
       from sources order by id`,
    );
    expect(rows.map(({ counted }) => counted)).toEqual(rows.map(({ there }) => there));
    return rows.map(({ there }) => there);
  };
  const begun = await Promise.all(
    Array.from({ length: 20 }, (_, n) => beginRule(store, { x: `word${n}`, firehose: `word${n}` })),
  );
  expect(await isRight()).toEqual([20, 20]);
  await database.run(`update slots set state = 'failed'`);
  await Promise.all(begun.slice(0, 15).map(({ ruleId }) => store.abandon(ruleId)));
  expect(await isRight()).toEqual([5, 5]);
  await database.run(`insert into sources (id, platform, capacity) values ('x:other', 'x', 5)`);
  await database.run(
    `update slots set source_id = 'x:other'
     where id in (select id from slots where platform = 'x' order by id limit 3)`,
  );
  expect(await isRight()).toEqual([5, 2, 3]);
  // The counter is decreased when the next slot is placed: there is room for exactly two more.
  await database.run(`update sources set capacity = 2 where id = 'x:main'`);
  const more = await Promise.all(Array.from({ length: 5 }, (_, n) => beginRule(store, { x: `more${n}` })));
  expect(more.filter(({ outcome }) => outcome.kind === 'begun')).toHaveLength(2);
  expect(await isRight()).toEqual([5, 2, 5]);
  expect(await database.many(`select 1 from slot_departures where source_id like 'x:%'`)).toEqual([]);
});
