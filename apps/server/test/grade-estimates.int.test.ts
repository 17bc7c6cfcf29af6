import type { Template } from '@earshot/testkit';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createNoticeReader } from '../src/notices/notice-reader.sql.ts';
import { type PreviewWorld, startPreviewWorld } from './preview-world.ts';
import { createMigratedTemplate } from './support.ts';

let template: Template;
let world: PreviewWorld;
beforeAll(async () => {
  template = await createMigratedTemplate();
});
afterAll(() => template?.[Symbol.asyncDispose]());
beforeEach(async () => {
  world = await startPreviewWorld(template);
  // 24 a day, as far as is known.
  await world.store(hourly(48, 'rule_1'));
});
afterEach(() => world?.[Symbol.asyncDispose]());

const hourly = (hours: number, rule: string, perHour = 1) =>
  Array.from({ length: hours * perHour }, (_, n) => ({
    text: 'aurora',
    rules: [rule],
    hoursAgo: (n + 0.5) / perHour,
  }));
const kept = () =>
  world.database.many(`select rule_id, matches_1d, matches_7d, graded from rule_estimates order by rule_id`);
const age = async (hours: number) => {
  for (const [table, column] of [
    ['watches', 'from_at'],
    ['rule_estimates', 'served_since'],
  ])
    await world.database.run(`update ${table} set ${column} = ${column} - $1 * interval '1 hour'`, [hours]);
};

test('an estimate is kept with a rule that gets its value afterwards, and with no other', async () => {
  await world.hold('rule_2', 'aurora -oslo', 1);
  await world.preview({ value: 'aurora -oslo' });
  await world.preview({ value: 'aurora' });
  await world.preview({ value: 'glacier' });
  await world.hold('rule_3', 'aurora', 0);
  await world.hold('rule_4', 'glacier', 0);
  await world.hold('other_1', 'aurora oslo', 0);
  await world.grade();
  // rule_2 had its value before, nothing is known of glacier, and other_1 is not the account's.
  expect(await kept()).toEqual([{ rule_id: 'rule_3', matches_1d: null, matches_7d: null, graded: false }]);
});

test('it is graded once after a day and once after a week by what came since', async () => {
  await world.preview({ value: 'aurora' });
  await world.hold('rule_3', 'aurora', 0);
  expect(await world.grade()).toEqual([]);
  await age(23);
  expect(await world.grade()).toEqual([]);
  await age(2);
  await world.store(hourly(25, 'rule_3', 3));
  expect(await world.grade()).toEqual([
    {
      ruleId: 'rule_3',
      version: 1,
      accountId: 'acc_1',
      platform: 'x',
      basis: 'bound',
      bound: 'at_least',
      days: 1,
      matches: 72,
      estimated: 24,
      isOff: false,
    },
  ]);
  expect(await world.grade()).toEqual([]);
  await age(6 * 24);
  expect(await world.grade()).toMatchObject([{ days: 7, estimated: 168 }]);
  expect(await world.grade()).toEqual([]);
  expect(await kept()).toMatchObject([{ matches_1d: 72, graded: true }]);
});

test('a version that was not served all the time is not graded', async () => {
  await world.preview({ value: 'aurora' });
  await world.hold('rule_3', 'aurora', 0);
  await world.grade();
  await age(25);
  await world.database.run(`update watches set to_at = now() - interval '2 hours' where rule_id = 'rule_3'`);
  expect(await world.grade()).toEqual([]);
  expect(await kept()).toEqual([{ rule_id: 'rule_3', matches_1d: null, matches_7d: null, graded: true }]);
});

describe('an estimate that was off', () => {
  const told = async (accountId = 'acc_1') => {
    const asked = { accountId, open: false, order: 'oldest', from: null, limit: 9 } as const;
    return (await createNoticeReader(world.database).read(asked)).map(({ notice }) => notice);
  };
  /** A day with four matches, and an hour more with one, where at least 24 were estimated. */
  const beOff = async () => {
    await world.preview({ value: 'aurora' });
    await world.setValue('rule_3', 'aurora');
    await world.hold('rule_3', 'aurora', 0);
    await world.grade();
    await age(25);
    await world.store(hourly(5, 'rule_3'));
    await world.grade();
  };

  test('is told to the account, and is over when the next grade is right', async () => {
    await beOff();
    expect(await told()).toMatchObject([
      {
        type: 'estimate.off',
        subject: { kind: 'rule', id: 'rule_3' },
        data: { platform: 'x', version: 1, days: 1, matches: 4, estimated: 24, basis: 'bound' },
        resolved_at: null,
      },
    ]);
    expect(await told('acc_2')).toEqual([]);
    await world.grade();
    expect(await told()).toMatchObject([{ resolved_at: null }]);
    await age(6 * 24);
    await world.store(hourly(24, 'rule_3', 10));
    await world.grade();
    expect(await told()).toMatchObject([{ type: 'estimate.off', resolved_at: expect.any(String) }]);
  });

  test('does not matter any more when the rule has another value', async () => {
    await beOff();
    await world.database.run(`update rules set version = 2 where id = 'rule_3'`);
    await world.setValue('rule_3', 'aurora');
    await world.grade();
    expect(await told()).toMatchObject([{ resolved_at: null }]);
    await world.database.run(`update rules set version = 3 where id = 'rule_3'`);
    await world.setValue('rule_3', 'aurora -oslo');
    await world.grade();
    expect(await told()).toMatchObject([{ resolved_at: expect.any(String) }]);
  });
});
