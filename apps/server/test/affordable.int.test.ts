import type { Template } from '@earshot/testkit';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Allowance } from '../src/budgets/installation-budget.ts';
import { Failure } from '../src/runtime/failure.ts';
import type { ItemCounts } from '../src/upstream/platform.ts';
import { budgetOf } from './budget-world.ts';
import { type PreviewWorld, startPreviewWorld } from './preview-world.ts';
import { createMigratedTemplate } from './support.ts';

const hourMs = 3_600_000;

let template: Template;
let world: PreviewWorld;
let countRequests: number;
let bound: 'none' | 'at_most' | 'at_least';
let answers: Promise<void>;
let allowance: Allowance;
beforeAll(async () => {
  template = await createMigratedTemplate();
});
afterAll(() => template?.[Symbol.asyncDispose]());
beforeEach(async () => {
  countRequests = 0;
  bound = 'none';
  answers = Promise.resolve();
  allowance = { remainingUsd: 1, reached: null };
  world = await startPreviewWorld(template, [tenAnHour], { read: async () => allowance });
  await world.database.run(
    `update sources set state = 'live', live_until = now() + interval '1 minute' where id = 'x:main'`,
  );
});
afterEach(() => world?.[Symbol.asyncDispose]());

/** A platform that counts 240 a day for every query; with its author each costs $0.015: $3.60. */
const tenAnHour: ItemCounts = {
  sourceId: 'x:main',
  countabilityOf: (value) => ({
    countable: true,
    kind: 'counts_recent',
    query: value,
    share: 1,
    dropped: bound === 'at_most' ? ['bio'] : [],
    misses: bound === 'at_least' ? ['quoted text'] : [],
  }),
  async count(_query, { fromMs }) {
    countRequests++;
    await answers;
    const first = Math.ceil(fromMs / hourMs) * hourMs;
    return { kind: 'counted', fromMs: first, counts: Array.from({ length: 168 }, () => 10) };
  },
};

const withOwn = (text: string) => ({ budget: budgetOf(text) });

async function refusal(checked: Promise<void>): Promise<Failure | null> {
  return await checked.then(
    () => null,
    (error: unknown) => {
      if (error instanceof Failure) return error;
      throw error;
    },
  );
}

describe('a rule whose average day is above a budget is refused, with the estimate: the budget is', () => {
  test('its own', async () => {
    const failure = await refusal(world.assertAffordable(withOwn('usd=3.5/day')));
    expect(failure).toMatchObject({
      code: 'failed_precondition',
      details: {
        budget: { usd: 3.5, period: 'day' },
        estimate: { x: { basis: 'counts', matches_per_day: { average: 240 }, usd_per_day: { max: 3.6 } } },
      },
    });
    expect(failure?.message).toMatch(
      /about 240 matches and \$3\.60 .* the budget of the rule \(usd=3\.5\/day\)/,
    );
    bound = 'at_least';
    const leftOut = await refusal(world.assertAffordable(withOwn('usd=3.5/day')));
    expect(leftOut?.message).toContain('at least 240 matches');
    expect(await refusal(world.assertAffordable(withOwn('usd=3.7/day')))).toBeNull();
  });

  test("the operator's, if the rule has none", async () => {
    const ruleBudget = budgetOf('matches=239/day');
    expect(await refusal(world.assertAffordable({}, { ruleBudget }))).not.toBeNull();
    expect(await refusal(world.assertAffordable(withOwn('matches=240/day'), { ruleBudget }))).toBeNull();
  });

  test('that of the key, of the key that created the key, or of the account', async () => {
    await world.database.run(
      `insert into api_keys (id, account_id, display, hash, scopes, budget, spends_from) values
         ('key_1', 'acc_1', 'parent', 'a', '{}', '{"period":"day","usd":1,"on_reached":"pause"}', 'key_1'),
         ('key_2', 'acc_1', 'child', 'b', '{}', null, 'key_1'),
         ('key_3', 'acc_1', 'free', 'c', '{}', null, null)`,
    );
    const by = (keyId: string) => refusal(world.assertAffordable({ keyId }));
    expect((await by('key_1'))?.message).toMatch('the budget of the key');
    expect((await by('key_2'))?.message).toMatch('the budget of the key');
    expect(await by('key_3')).toBeNull();
    await world.database.run(
      `update accounts set budget = '{"period":"month","usd":50,"on_reached":"pause"}' where id = 'acc_1'`,
    );
    expect((await by('key_3'))?.message).toMatch('the budget of the account (usd=50/month)');
  });

  test('that of a rule that is resumed', async () => {
    await world.database.run(
      `update rules set state = 'paused', budget = '{"period":"day","matches":9,"on_reached":"pause"}' where id = 'rule_1'`,
    );
    expect(await refusal(world.assertAffordable({ ruleId: 'rule_1' }))).not.toBeNull();
    expect(await refusal(world.assertAffordable({ ruleId: 'rule_2' }))).toBeNull();
  });
});

describe('a rule is created', () => {
  test('without a count if no budget pauses', async () => {
    expect(await refusal(world.assertAffordable({}))).toBeNull();
    expect(await refusal(world.assertAffordable(withOwn('usd=1/day:notify')))).toBeNull();
    expect(countRequests).toBe(0);
  });

  test('without a count if stored items or a known rate decide', async () => {
    await world.store(
      Array.from({ length: 50 }, () => ({ text: 'an aurora', rules: ['rule_3'], hoursAgo: 5 })),
    );
    bound = 'at_most';
    expect(await refusal(world.assertAffordable(withOwn('matches=1/day')))).toBeNull();
    expect(countRequests).toBe(1);
  });

  test('without a count if the installation has spent its budget', async () => {
    allowance = { remainingUsd: 0, reached: { resetsAt: new Date(), isSure: true } };
    expect(await refusal(world.assertAffordable(withOwn('usd=1/day')))).toBeNull();
    expect(countRequests).toBe(0);
  });

  test('if the account may count no more often today', async () => {
    const bounds = [];
    for (const value of ['one', 'two', 'three', 'four'])
      bounds.push((await refusal(world.assertAffordable({ value, ...withOwn('usd=1/day') })))?.code ?? null);
    expect(bounds.filter((code) => code === null)).toHaveLength(1);
    expect(countRequests).toBe(3);
  });

  test('if the platform does not answer in time; its late answer is known the next time', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    answers = promise;
    const draft = withOwn('usd=1/day');
    expect(await refusal(world.assertAffordable(draft, { answerWithinMs: 50 }))).toBeNull();
    resolve();
    await expect.poll(() => refusal(world.assertAffordable(draft))).not.toBeNull();
    expect(countRequests).toBeLessThanOrEqual(2);
  });
});

test('with a count of the last hour at no cost; another account pays for its own count', async () => {
  await world.preview({ value: 'aurora' });
  expect(await refusal(world.assertAffordable(withOwn('usd=1/day')))).not.toBeNull();
  expect(countRequests).toBe(1);
  await refusal(world.assertAffordable({ accountId: 'acc_2', ...withOwn('usd=1/day') }));
  expect(countRequests).toBe(2);
});
