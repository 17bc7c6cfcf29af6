import type { Template } from '@earshot/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { budgetOf, openBudgetWorld } from './budget-world.ts';
import { createMigratedTemplate } from './support.ts';

let template: Template;
beforeAll(async () => {
  template = await createMigratedTemplate();
});
afterAll(() => template?.[Symbol.asyncDispose]());

type World = Awaited<ReturnType<typeof openBudgetWorld>>;

/** Makes all matches, and the rules, so much older. */
async function age({ database }: World, interval: string): Promise<void> {
  await database.run('update match_times set began = began - $1::interval', [interval]);
  await database.run('update rules set created_at = created_at - $1::interval', [interval]);
}

/** Stores twice so many, a minute apart. */
async function burst(world: World, value: string, perMinute: number): Promise<void> {
  await world.match(value, perMinute);
  await age(world, '70 seconds');
  await world.match(value, perMinute);
}

const unusual = async (world: World, accountId = 'acc_1') =>
  (await world.notices(accountId)).filter(({ type }) => type === 'rate.unusual');

test('a burst raises one notice per rule, which is resolved when the burst ends', async () => {
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
  await world.notifyUnusualRates();
  await world.notifyUnusualRates();
  const [notice, ...others] = await unusual(world);
  expect(notice).toMatchObject({
    severity: 'warning',
    subject: { kind: 'rule', id: ruleId, name: 'cats' },
    data: { matches_per_minute: 30, usual_per_minute: 1 },
    resolved_at: null,
  });
  expect(others).toEqual([]);
  expect((await world.store.get('acc_1', ruleId))?.state).toBe('active');
  expect(await unusual(world, 'acc_2')).toMatchObject([{ subject: { id: theirs }, data: notice?.data }]);
  await age(world, '5 minutes');
  await world.notifyUnusualRates();
  expect((await unusual(world))[0]?.resolved_at).not.toBeNull();
});

test.each([
  ['six times the usual number raises no notice', { usual: 5, perMinute: 30, notices: 0 }],
  ['more than six times the usual number raises a notice', { usual: 5, perMinute: 31, notices: 1 }],
  ['20 matches a minute where none are usual raise no notice', { usual: 0, perMinute: 20, notices: 0 }],
  ['21 matches a minute where none are usual raise a notice', { usual: 0, perMinute: 21, notices: 1 }],
])('%s', async (_, { usual, perMinute, notices }) => {
  await using world = await openBudgetWorld(template);
  await world.create('cats');
  await world.match('cats', usual * 60);
  await age(world, '1 day');
  await world.database.run(`update rules set created_at = created_at - interval '1 day'`);
  await burst(world, 'cats', perMinute);
  await world.notifyUnusualRates();
  expect(await unusual(world)).toHaveLength(notices);
});

test.each([
  ['of a rule with alerts, which report it', `update rules set alerts = 'low'`],
  ['of items that a repair stores late', `update matches set item_at = created_at - interval '1 hour'`],
])('a burst %s raises no notice', async (_, change) => {
  await using world = await openBudgetWorld(template);
  await world.create('cats');
  await age(world, '1 day');
  await world.database.run(`update rules set created_at = created_at - interval '1 day'`);
  await burst(world, 'cats', 30);
  await world.database.run(change);
  await world.notifyUnusualRates();
  expect(await unusual(world)).toEqual([]);
});

test('a rule with $25 a day keeps running through 20 minutes with 120 matches a minute', async () => {
  await using world = await openBudgetWorld(template);
  const ruleId = await world.create('cats', { budget: budgetOf('usd=25/day') });
  const watch = world.watch();
  for (let minute = 0; minute < 20; minute++) {
    await world.match('cats', 120);
    await watch();
    await world.notifyUnusualRates();
    expect(await world.store.get('acc_1', ruleId), `after minute ${minute + 1}`).toMatchObject({
      state: 'active',
      pause: null,
    });
    await world.pass(60_000);
  }
  expect(await world.matchesOf(ruleId)).toBe(2_400);
  expect((await world.store.get('acc_1', ruleId))?.effective_budget).toMatchObject({
    spent: 12,
    remaining: 13,
  });
});
