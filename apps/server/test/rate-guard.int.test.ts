import { parseBudget } from '@earshot/contract';
import type { Template } from '@earshot/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openBudgetWorld } from './budget-world.ts';
import { createMigratedTemplate } from './support.ts';

let template: Template;
beforeAll(async () => {
  template = await createMigratedTemplate();
});
afterAll(() => template?.[Symbol.asyncDispose]());

type World = Awaited<ReturnType<typeof openBudgetWorld>>;

/** What was matched so far is so much older; the rules, too. */
async function age({ database }: World, interval: string): Promise<void> {
  await database.run('update match_times set began = began - $1::interval', [interval]);
  await database.run('update rules set created_at = created_at - $1::interval', [interval]);
}

/** Twice so many, a minute apart. */
async function burst(world: World, value: string, perMinute: number): Promise<void> {
  await world.match(value, perMinute);
  await age(world, '70 seconds');
  await world.match(value, perMinute);
}

const guards = async (world: World, accountId = 'acc_1') =>
  (await world.notices(accountId)).filter(({ type }) => type === 'rate.guard');

test('a burst is told once, also of a rule that shares its value, and is over when it ends', async () => {
  await using world = await openBudgetWorld(template);
  const ruleId = await world.create('cats');
  const theirs = await world.create('cats', { accountId: 'acc_2', key: 'key_2' });
  await world.create('dogs');
  // One in each minute of the hour is usual.
  await world.match('cats', 60);
  await age(world, '1 day');
  await world.database.run(`update rules set created_at = created_at - interval '1 day'`);
  await burst(world, 'cats', 30);
  await world.match('dogs', 30);
  await world.guardRates();
  await world.guardRates();
  const [told, ...others] = await guards(world);
  expect(told).toMatchObject({
    severity: 'critical',
    subject: { kind: 'rule', id: ruleId, name: 'cats' },
    data: { matches_per_minute: 30, usual_per_minute: 1, paused: false, resumes_at: null },
    resolved_at: null,
  });
  expect(others).toEqual([]);
  expect((await world.store.get('acc_1', ruleId))?.state).toBe('active');
  expect(await guards(world, 'acc_2')).toMatchObject([{ subject: { id: theirs }, data: told?.data }]);
  await age(world, '5 minutes');
  await world.guardRates();
  expect((await guards(world))[0]?.resolved_at).not.toBeNull();
});

test('a rule whose budget would be gone in half an hour is paused until the budget begins anew', async () => {
  await using world = await openBudgetWorld(template);
  const budget = parseBudget('usd=4/day');
  const ruleId = await world.create('cats', { budget });
  const ample = await world.create('cats', {
    accountId: 'acc_2',
    key: 'key_2',
    budget: parseBudget('usd=400/day'),
  });
  // $0.15 a minute are $4.50 in half an hour.
  await burst(world, 'cats', 30);
  await world.guardRates();
  const midnight = new Date(Math.ceil(Date.now() / 86_400_000) * 86_400_000).toISOString();
  expect(await world.store.get('acc_1', ruleId)).toMatchObject({
    state: 'paused',
    paused_for: { reason: 'budget', resumes_at: midnight },
  });
  expect((await world.store.get('acc_2', ample))?.state).toBe('active');
  expect(await guards(world)).toMatchObject([
    {
      subject: { id: ruleId },
      data: { matches_per_minute: 30, usual_per_minute: null, paused: true, resumes_at: midnight },
    },
  ]);
  // While it is paused nothing is over.
  await age(world, '5 minutes');
  await world.guardRates();
  expect((await guards(world))[0]?.resolved_at).toBeNull();
});
