import type { Budget } from '@earshot/contract';
import type { Template } from '@earshot/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { defaultPrices } from '../src/billing/prices.ts';
import { forecastAtEnd, periodAt } from '../src/billing/spending.ts';
import { createRuleStore } from '../src/rules/rule-store.sql.ts';
import { budgetOf, dyingAt, openBudgetWorld } from './budget-world.ts';
import { changeBy } from './changes.ts';
import { createMigratedTemplate, openTestDatabase } from './support.ts';

let template: Template;
beforeAll(async () => {
  template = await createMigratedTemplate();
});
afterAll(() => template?.[Symbol.asyncDispose]());

const tomorrowMs = 24 * 3_600_000;
const midnightAfter = (time: Date) =>
  new Date((Math.floor(time.getTime() / tomorrowMs) + 1) * tomorrowMs).toISOString();
const types = (notices: ReadonlyArray<{ type: string }>) => notices.map(({ type }) => type).toSorted();

describe('a rule with a budget', () => {
  test('raises a notice on the way, is paused before the budget is spent, and stores no more matches', async () => {
    await using world = await openBudgetWorld(template);
    const ruleId = await world.create('cats', { budget: budgetOf('usd=1/day') });
    const check = world.watch();
    await world.match('cats', 100);
    await world.endBurst();
    await check();
    expect(types(await world.notices())).toEqual(['budget.threshold']);
    expect((await world.store.get('acc_1', ruleId))?.effective_budget).toMatchObject({
      spent: 0.5,
      remaining: 0.5,
    });
    // 60 in a minute become 70 until X applies the pause: $0.80 are spent, and $0.35 are reserved.
    await world.match('cats', 60);
    expect((await world.store.get('acc_1', ruleId))?.effective_budget).toMatchObject({
      spent: 0.8,
      reserved: 0.35,
      // The rule is younger than an hour.
      forecast: null,
    });
    await check();
    const stopped = await world.store.get('acc_1', ruleId);
    expect(stopped).toMatchObject({ state: 'paused', pause: { reason: 'budget' } });
    const resumesAt = stopped?.pause?.resumes_at ?? '';
    // Once in the period, a rule resumes with what is left.
    expect((Date.parse(resumesAt) - Date.now()) / 120_000).toBeCloseTo(1, 1);
    await world.match('cats', 10);
    expect(await world.matchesOf(ruleId)).toBe(160);
    const notices = await world.notices();
    expect(types(notices)).toEqual(['budget.reached', 'budget.threshold', 'budget.threshold']);
    expect(notices.find(({ type }) => type === 'budget.reached')).toMatchObject({
      severity: 'critical',
      subject: { kind: 'rule', id: ruleId, name: 'cats' },
      data: {
        budget: 'usd=1/day',
        limit: 1,
        spent: 0.8,
        reserved: 0.35,
        on_reached: 'pause',
        resets_at: midnightAfter(new Date()),
        resumes_at: resumesAt,
      },
      what_to_do: `Paused early, at $0.80 of $1.00 a day, until ${resumesAt.slice(0, 19).replace('T', ' ')} UTC. At the rate of the last minute, $0.35 more could arrive before the platforms stop. To continue sooner, raise the budget or narrow the rules.`,
      resolved_at: null,
    });
  });

  test('is not paused early for matches that a search has found for a gap', async () => {
    await using world = await openBudgetWorld(template);
    const ruleId = await world.create('cats', { budget: budgetOf('matches=100/day') });
    await world.match('cats', 60);
    await world.database.run(`update matches set via = 'search'`);
    await world.watch()();
    expect(await world.store.get('acc_1', ruleId)).toMatchObject({
      state: 'active',
      effective_budget: { spent: 60, reserved: 0 },
    });
  });

  test('is forecast from the time when it began to listen in the period', async () => {
    await using world = await openBudgetWorld(template);
    const ruleId = await world.create('cats', { budget: budgetOf('matches=1000/month') });
    await world.match('cats', 5);
    const since = new Date(Date.now() - 20 * 3_600_000);
    await world.database.run(`update watches set from_at = $1`, [since]);
    // What ended before the period does not count.
    await world.database.run(
      `insert into watches select rule_id, account_id, platform, slot_id, from_at - interval '90 days',
         from_at - interval '80 days' from watches`,
    );
    const now = new Date();
    const expected = forecastAtEnd({ spent: 5, period: periodAt('month', now), since }, now);
    const shown = (await world.store.get('acc_1', ruleId))?.effective_budget?.forecast ?? null;
    if (expected === null) expect(shown).toBeNull();
    else expect((shown ?? 0) / expected).toBeCloseTo(1, 2);
  });

  test("is limited by the operator's budget if it has none, and shows it", async () => {
    await using world = await openBudgetWorld(template);
    const ruleId = await world.create('cats');
    await world.match('cats', 100);
    const pricing = { prices: defaultPrices(), ruleBudget: budgetOf('usd=25/day') };
    const rule = await createRuleStore(world.database, pricing).get('acc_1', ruleId);
    expect(rule).toMatchObject({ budget: null, effective_budget: { usd: 25, spent: 0.5, remaining: 24.5 } });
    expect(await world.store.get('acc_1', ruleId)).toMatchObject({ budget: null, effective_budget: null });
  });

  test('leaves the slot to another account, which misses nothing and gets no notice', async () => {
    await using world = await openBudgetWorld(template);
    const mine = await world.create('cats', { budget: budgetOf('matches=5/day') });
    const theirs = await world.create('cats', { accountId: 'acc_2', key: 'key_2' });
    await world.match('cats', 5);
    await world.watch()();
    await world.match('cats', 7);
    expect([await world.matchesOf(mine), await world.matchesOf(theirs)]).toEqual([5, 12]);
    expect(await world.database.one('select state from slots')).toEqual({ state: 'registered' });
    expect(await world.notices('acc_2')).toEqual([]);
    expect(await world.store.get('acc_2', theirs)).toMatchObject({ state: 'active', pause: null });
  });

  test('continues if the budget only notifies, once it is spent', async () => {
    await using world = await openBudgetWorld(template);
    const ruleId = await world.create('cats', { budget: budgetOf('matches=5/month:notify') });
    await world.match('cats', 4);
    await world.watch()();
    expect(types(await world.notices())).not.toContain('budget.reached');
    await world.match('cats', 2);
    await world.watch()();
    expect((await world.store.get('acc_1', ruleId))?.state).toBe('active');
    const notice = (await world.notices()).find(({ type }) => type === 'budget.reached');
    expect(notice?.what_to_do).toMatch(/^The budget is spent: 6 of 5 matches a month\. Its rules continue\./);
  });

  test('counts from the start of its period', async () => {
    await using world = await openBudgetWorld(template);
    const daily = await world.create('cats', { budget: budgetOf('matches=6/day') });
    const forLife = await world.create('dogs', { budget: budgetOf('matches=6/lifetime') });
    await world.match('cats', 5);
    await world.match('dogs', 5);
    await world.endBurst();
    await world.database.run(
      `update usage set day = day - 40, last_match_at = last_match_at - interval '40 days'`,
    );
    await world.match('cats', 1);
    await world.match('dogs', 1);
    await world.watch()();
    expect(await world.store.get('acc_1', daily)).toMatchObject({
      state: 'active',
      effective_budget: { spent: 1 },
    });
    expect(await world.store.get('acc_1', forLife)).toMatchObject({
      state: 'paused',
      pause: { resumes_at: null },
      effective_budget: { spent: 6, resets_at: null },
    });
  });

  test("without its own budget has the operator's, unless the operator has none", async () => {
    await using world = await openBudgetWorld(template);
    const ruleId = await world.create('cats');
    await world.match('cats', 10);
    await world.watch(null)();
    expect((await world.store.get('acc_1', ruleId))?.state).toBe('active');
    await world.watch(budgetOf('matches=10/day'))();
    expect((await world.store.get('acc_1', ruleId))?.state).toBe('paused');
  });

  test('is paused at once if the budget is lowered below its spending', async () => {
    await using world = await openBudgetWorld(template);
    const ruleId = await world.create('cats', { budget: budgetOf('matches=100/day') });
    await world.match('cats', 10);
    const check = world.watch();
    await check();
    await setBudget(world, ruleId, budgetOf('matches=10/day'));
    await check();
    expect((await world.store.get('acc_1', ruleId))?.state).toBe('paused');
  });
});

const setBudget = (
  { changes }: Awaited<ReturnType<typeof openBudgetWorld>>,
  ruleId: string,
  budget: Budget,
) =>
  changes.beginUpdate(
    {
      accountId: 'acc_1',
      ruleId,
      name: undefined,
      intent: undefined,
      expiresAt: undefined,
      budget,
      values: undefined,
      premiumRulesMax: 9,
      keepOldMs: 0,
    },
    changeBy('acc_1'),
  );

describe('the watch of budgets', () => {
  test('notifies and pauses once, with four nodes that check at the same time again and again', async () => {
    await using world = await openBudgetWorld(template);
    await using other = openTestDatabase(world.clone.url, 20);
    const ruleIds = [];
    for (const value of ['a', 'b', 'c', 'd', 'e'])
      ruleIds.push(await world.create(value, { budget: budgetOf('matches=10/day') }));
    const nodes = [world.watch(), world.watch(), world.watch(null, other), world.watch(null, other)];
    for (const count of [5, 2, 1, 2, 3]) {
      for (const value of ['a', 'b', 'c', 'd', 'e']) await world.match(value, count);
      await Promise.all([...nodes, ...nodes].map((check) => check()));
    }
    // A node that starts later changes nothing.
    await world.watch()();
    for (const ruleId of ruleIds) {
      const own = (await world.notices()).filter(({ subject }) => subject.id === ruleId);
      expect(types(own)).toEqual([...new Set(types(own))]);
      expect(own.filter(({ type }) => type === 'budget.reached')).toHaveLength(1);
    }
    const pauses = await world.database.many(`select target_id from audit where operation = 'StopForBudget'`);
    expect(pauses).toHaveLength(5);
  });

  test('does nothing in a node that crashes halfway, and everything in the next node', async () => {
    await using world = await openBudgetWorld(template);
    const ruleId = await world.create('cats', { budget: budgetOf('matches=5/day') });
    await world.match('cats', 5);
    const dying = dyingAt(world.database, 'insert into budget_marks', 'budget.reached');
    await expect(world.watch(null, dying)()).rejects.toThrow('the node is gone');
    await expect(
      world.watch(null, dyingAt(world.database, 'insert into audit', 'StopForBudget'))(),
    ).rejects.toThrow('gone');
    expect((await world.store.get('acc_1', ruleId))?.state).toBe('active');
    expect(await world.database.many(`select 1 from slot_holders where rule_id = $1`, [ruleId])).toHaveLength(
      1,
    );
    await world.watch()();
    expect((await world.store.get('acc_1', ruleId))?.state).toBe('paused');
    expect(types(await world.notices())).toEqual(['budget.reached', 'budget.threshold', 'budget.threshold']);
  });

  test('makes up for a failed check with the next one', async () => {
    await using world = await openBudgetWorld(template);
    const ruleId = await world.create('cats', { budget: budgetOf('matches=5/day') });
    let isDying = true;
    const check = world.watch(
      null,
      dyingAt(world.database, 'insert into audit', 'StopForBudget', () => isDying),
    );
    await check();
    await world.match('cats', 5);
    await expect(check()).rejects.toThrow('gone');
    isDying = false;
    await check();
    expect((await world.store.get('acc_1', ruleId))?.state).toBe('paused');
  });
});

describe('a budget of several rules', () => {
  test('of a key counts the spending of all its rules, deleted ones included, and pauses them all', async () => {
    await using world = await openBudgetWorld(template);
    await world.database.run(
      `insert into api_keys (id, account_id, hash, display, scopes, budget, spends_from) values
         ('key_a', 'acc_1', '\\x01', 'esk_a', '{}', '{"period":"day","matches":10,"on_reached":"pause"}', 'key_a'),
         ('key_b', 'acc_1', '\\x02', 'esk_b', '{}', null, 'key_a'), ('key_c', 'acc_1', '\\x03', 'esk_c', '{}', null, null)`,
    );
    const gone = await world.create('gone', { key: 'key_a' });
    const first = await world.create('first', { key: 'key_a' });
    const second = await world.create('second', { key: 'key_b' });
    const others = await world.create('others', { key: 'key_c' });
    await world.match('gone', 6);
    await world.store.delete(changeBy('acc_1'), gone);
    await world.database.run('delete from rules where id = $1', [gone]);
    const check = world.watch();
    await world.match('first', 2);
    await world.match('others', 20);
    await world.endBurst();
    await check();
    expect(types(await world.notices())).toEqual(['budget.threshold', 'budget.threshold']);
    await world.match('second', 2);
    await check();
    const states = [first, second, others].map(async (id) => (await world.store.get('acc_1', id))?.state);
    expect(await Promise.all(states)).toEqual(['paused', 'paused', 'active']);
    expect((await world.notices()).find(({ type }) => type === 'budget.reached')?.subject).toEqual({
      kind: 'key',
      id: 'key_a',
      name: 'esk_a',
    });
  });

  test('of an account pauses all its rules, and none of another account', async () => {
    await using world = await openBudgetWorld(template);
    await world.database.run(
      `update accounts set budget = '{"period":"month","usd":0.05,"on_reached":"pause"}' where id = 'acc_1'`,
    );
    const mine = [await world.create('cats'), await world.create('dogs')];
    const theirs = await world.create('cats', { accountId: 'acc_2', key: 'key_2' });
    await world.match('cats', 10);
    await world.watch()();
    for (const id of mine) expect((await world.store.get('acc_1', id))?.state).toBe('paused');
    expect((await world.store.get('acc_2', theirs))?.state).toBe('active');
    expect((await world.notices()).filter(({ type }) => type === 'budget.reached')).toHaveLength(1);
  });
});

describe('after a pause', () => {
  /** A rule that its budget paused, and a resume with a registrar that answers at once. */
  async function stopped(text: string) {
    const world = await openBudgetWorld(template);
    const ruleId = await world.create('cats', { budget: budgetOf(text) });
    await world.match('cats', 5);
    await world.watch()();
    expect((await world.store.get('acc_1', ruleId))?.state).toBe('paused');
    const resume = async () => {
      await world.registered(world.resume());
      return (await world.store.get('acc_1', ruleId))?.state;
    };
    return { world, ruleId, resume };
  }

  test('the rule resumes when the next period begins, and its notices are resolved', async () => {
    const { world, ruleId, resume } = await stopped('matches=5/day');
    await using _ = world;
    expect(await resume()).toBe('paused');
    world.now.ahead = tomorrowMs;
    await world.database.run("update rules set budget_check_at = now() - interval '1 second'");
    expect(await resume()).toBe('active');
    expect((await world.notices()).every(({ resolved_at }) => resolved_at !== null)).toBe(true);
    expect(await world.store.get('acc_1', ruleId)).toMatchObject({ pause: null });
    await world.match('cats', 1);
    expect(await world.matchesOf(ruleId)).toBe(6);
  });

  test('the rule stays paused while the period lasts, even if it is checked and has become quiet', async () => {
    const { world, ruleId, resume } = await stopped('matches=5/day');
    await using _ = world;
    await world.endBurst();
    await world.database.run("update rules set budget_check_at = now() - interval '1 second'");
    expect(await resume()).toBe('paused');
    const until = (await world.store.get('acc_1', ruleId))?.pause?.resumes_at;
    expect(new Date(until ?? 0).getTime()).toBeGreaterThan(Date.now());
  });

  test('less than one match left is not worth a resume', async () => {
    const { world, ruleId } = await stopped('usd=0.029/day');
    await using _ = world;
    expect((await world.store.get('acc_1', ruleId))?.pause?.resumes_at).toBe(midnightAfter(new Date()));
  });

  test('a request cannot resume the rule, but a larger budget does', async () => {
    const { world, ruleId, resume } = await stopped('matches=5/lifetime');
    await using _ = world;
    const request = { accountId: 'acc_1', ruleId, premiumRulesMax: 9 };
    expect(await world.changes.beginResume(request)).toEqual({ kind: 'budget_reached', resumesAt: null });
    await setBudget(world, ruleId, budgetOf('matches=50/lifetime'));
    expect(await resume()).toBe('active');
    expect((await world.notices()).every(({ resolved_at }) => resolved_at !== null)).toBe(true);
  });

  test('two nodes resume it once', async () => {
    const { world, ruleId, resume } = await stopped('matches=5/day');
    await using _ = world;
    await setBudget(world, ruleId, budgetOf('matches=500/day'));
    await Promise.all([resume(), resume()]);
    expect((await world.store.get('acc_1', ruleId))?.state).toBe('active');
    const resumed = await world.database.many(
      `select 1 from audit where operation = 'ResumeRule' and actor = 'earshot'`,
    );
    expect(resumed).toHaveLength(1);
  });

  test('a rule that its owner pauses meanwhile stays paused', async () => {
    const { world, ruleId, resume } = await stopped('matches=5/day');
    await using _ = world;
    await world.changes.pause(ruleId, changeBy('acc_1'));
    world.now.ahead = tomorrowMs;
    expect(await resume()).toBe('paused');
    expect((await world.store.get('acc_1', ruleId))?.pause).toEqual({ reason: 'request', resumes_at: null });
  });

  test('a rule with $1 a day is paused within the bound, resumes once with what is left, and waits for midnight UTC', async () => {
    await using world = await openBudgetWorld(template);
    const ruleId = await world.create('cats', { budget: budgetOf('usd=1/day') });
    const check = world.watch();
    const read = async () => {
      const rule = await world.store.get('acc_1', ruleId);
      return {
        state: rule?.state,
        resumesAt: rule?.pause?.resumes_at,
        spent: rule?.effective_budget?.spent ?? 0,
      };
    };
    /** One match a second, which X keeps delivering for 70 s after the pause. */
    const runUntilPaused = async () => {
      for (let step = 0; step < 40 && (await read()).state === 'active'; step++) {
        await world.match('cats', 10);
        await check();
        await world.pass(10_000);
      }
      await world.match('cats', 70);
      return await read();
    };
    const first = await runUntilPaused();
    expect(first).toMatchObject({ state: 'paused' });
    expect(first.spent).toBeLessThan(0.7);
    expect((Date.parse(first.resumesAt ?? '') - Date.now()) / 120_000).toBeCloseTo(1, 1);
    await world.pass(120_000);
    await world.database.run("update rules set budget_check_at = now() - interval '1 second'");
    await world.registered(world.resume());
    expect(await read()).toMatchObject({ state: 'active', spent: first.spent });
    const second = await runUntilPaused();
    expect(second).toMatchObject({ state: 'paused', resumesAt: midnightAfter(new Date()) });
    expect(second.spent).toBeGreaterThan(first.spent);
    await world.pass(120_000);
    await world.database.run("update rules set budget_check_at = now() - interval '1 second'");
    await world.registered(world.resume());
    expect(await read()).toMatchObject({ state: 'paused', resumesAt: midnightAfter(new Date()) });
    const bill = await world.database.one<{ usd: number }>(
      'select (sum(at_least) * 0.005)::float8 as usd from source_usage',
    );
    // Items that arrive after a pause are on the bill, and not in `spent`.
    const deliveredAfterPause = 70 * 0.005;
    expect(second.spent).toBeLessThanOrEqual(1);
    expect(bill?.usd).toBeCloseTo(second.spent + 2 * deliveredAfterPause, 9);
    expect(bill?.usd).toBeLessThanOrEqual(1 + 2 * deliveredAfterPause);
    const reached = (await world.notices()).filter(({ type }) => type === 'budget.reached');
    expect(reached.map(({ resolved_at }) => resolved_at !== null)).toEqual([true, false]);
  });

  describe("by the operator's default budget in a second period", () => {
    const fallback = budgetOf('matches=5/day');

    /** The first pause was yesterday. */
    async function stoppedTwice(own: Budget | null = null) {
      const world = await openBudgetWorld(template);
      const ruleId = await world.create('cats', { budget: own });
      const check = world.watch(fallback);
      const resume = () => world.registered(world.resume(fallback));
      const read = async () => await world.store.get('acc_1', ruleId);
      world.now.ahead = -tomorrowMs;
      await world.match('cats', 5);
      await check();
      const first = await read();
      await world.database.run(
        `update usage set day = day - 1, last_match_at = last_match_at - interval '1 day'`,
      );
      await world.pass(tomorrowMs);
      world.now.ahead = 0;
      await resume();
      expect((await read())?.state).toBe('active');
      await world.match('cats', 5);
      await check();
      return { world, ruleId, check, resume, read, first };
    }

    test('the rule stays paused and says so', async () => {
      const { world, first, read, resume } = await stoppedTwice();
      await using _ = world;
      expect(first?.pause).toEqual({
        reason: 'budget',
        resumes_at: midnightAfter(new Date(Date.now() - tomorrowMs)),
      });
      const pause = { reason: 'default_budget', resumes_at: null };
      expect(await read()).toMatchObject({ state: 'paused', pause });
      const notice = (await world.notices()).find(
        ({ resolved_at, type }) => type === 'budget.reached' && !resolved_at,
      );
      expect(notice?.what_to_do).toBe(
        `The budget is spent: 5 of 5 matches a day. Its rules are paused and not resumed automatically, because the operator's default budget has paused the rule before. Set a budget for this rule, or resume it after ${midnightAfter(new Date()).slice(0, 10)} 00:00 UTC.`,
      );
      world.now.ahead = tomorrowMs;
      await world.database.run("update rules set budget_check_at = now() - interval '1 second'");
      await resume();
      await world.watch(fallback)();
      expect(await read()).toMatchObject({ state: 'paused', pause });
      expect((await world.notices()).find(({ id }) => id === notice?.id)?.resolved_at).toBeNull();
    });

    test('the rule resumes with its own budget, or when its owner resumes it', async () => {
      const { world, ruleId, read, resume } = await stoppedTwice();
      await using _ = world;
      const begun = await world.changes.beginResume({ accountId: 'acc_1', ruleId, premiumRulesMax: 9 });
      expect(begun.kind).toBe('begun');
      await world.changes.undo(ruleId);
      await setBudget(world, ruleId, budgetOf('matches=50/day'));
      await resume();
      expect(await read()).toMatchObject({ state: 'active', pause: null });
      expect(
        (await world.notices()).every(({ type, resolved_at }) => type !== 'budget.reached' || resolved_at),
      ).toBe(true);
    });

    test('a rule whose own budget is the same resumes at midnight', async () => {
      const { world, read } = await stoppedTwice(fallback);
      await using _ = world;
      expect((await read())?.pause).toEqual({ reason: 'budget', resumes_at: midnightAfter(new Date()) });
    });
  });

  test('notices of a past period are resolved, also those of rules that were not paused', async () => {
    await using world = await openBudgetWorld(template);
    await world.create('cats', { budget: budgetOf('matches=10/day') });
    await world.match('cats', 5);
    await world.endBurst();
    const check = world.watch();
    await check();
    expect((await world.notices()).map(({ resolved_at }) => resolved_at)).toContain(null);
    await world.database.run('update budget_marks set ends_at = now()');
    await check();
    expect((await world.notices()).map(({ resolved_at }) => resolved_at)).not.toContain(null);
  });
});
