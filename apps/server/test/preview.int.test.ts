import type { Template } from '@earshot/testkit';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { fillItems, type PreviewWorld, startPreviewWorld } from './preview-world.ts';
import { countReads } from './size-world.ts';
import { createMigratedTemplate } from './support.ts';

let template: Template;
let world: PreviewWorld;
beforeAll(async () => {
  template = await createMigratedTemplate();
});
afterAll(() => template?.[Symbol.asyncDispose]());
beforeEach(async () => {
  world = await startPreviewWorld(template);
});
afterEach(() => world?.[Symbol.asyncDispose]());

describe('a preview evaluates', () => {
  test("the account's own items and no others, each once, newest first and with the reason", async () => {
    await world.store([
      { text: 'an aurora tonight', rules: ['rule_1', 'rule_2', 'rule_3'], hoursAgo: 3 },
      { text: 'a glacier', rules: ['rule_1'], hoursAgo: 2 },
      { text: 'aurora again', rules: ['rule_2'], hoursAgo: 1 },
      { text: 'the aurora of others', rules: ['other_1'] },
    ]);
    const { sample } = await world.preview({ value: 'aurora' });
    expect(sample).toMatchObject({ evaluated: 3, stored: 3, is_sampled: false, matched: 2, undecided: 0 });
    expect(sample.matches).toMatchObject([
      { rule_id: 'rule_2', payload: { text: 'aurora again' }, why: { verdict: 'match' } },
      { rule_id: 'rule_1', why: { evidence: [{ field: 'keyword', text: 'aurora' }] } },
    ]);
  });

  test('a suspicious query, and answers with the finding', async () => {
    const { warnings } = await world.preview({ value: 'aurora NOT glacier' });
    expect(warnings).toMatchObject([
      { severity: 'suspicious', code: 'not_is_a_word', fixes: [{ certainty: 'certain' }] },
    ]);
  });

  test('only the requested days', async () => {
    await world.store([
      { text: 'aurora', rules: ['rule_1'], hoursAgo: 30 },
      { text: 'aurora', rules: ['rule_1'], hoursAgo: 5 },
    ]);
    expect((await world.preview({ days: 1 })).sample.evaluated).toBe(1);
    expect((await world.preview({ days: 2 })).sample.evaluated).toBe(2);
    await expect(world.preview({ days: 31 })).rejects.toMatchObject({
      code: 'invalid_argument',
      message: 'days: Must be at most 30: matches are kept for so many days.',
    });
  });

  test('no items of a deleted rule', async () => {
    await world.store([{ text: 'aurora', rules: ['rule_1'] }]);
    await world.database.run(`update rules set state = 'deleted' where id = 'rule_1'`);
    expect((await world.preview({})).sample).toMatchObject({ evaluated: 0, stored: 0, matched: 0 });
  });

  test('undecidable items separately, which it shows if there is nothing else', async () => {
    await world.store([{ text: 'aurora', rules: ['rule_1'] }]);
    const { sample } = await world.preview({ value: 'aurora sample:10' });
    expect(sample).toMatchObject({ matched: 0, undecided: 1, matches: [{ why: { verdict: 'unknown' } }] });
  });

  test('items also for a key that may not read matches, but returns only the numbers', async () => {
    await world.store([{ text: 'aurora', rules: ['rule_1'] }]);
    const { sample } = await world.preview({}, { scopes: ['rules:read'] });
    expect(sample).toMatchObject({ matched: 1, matches: [] });
  });
});

describe('a query beside a rule', () => {
  test('is compared over the same items', async () => {
    await world.setValue('rule_1', 'aurora');
    await world.store([
      { text: 'aurora', rules: ['rule_1'] },
      { text: 'aurora over oslo', rules: ['rule_1'] },
      { text: 'oslo', rules: ['rule_2'] },
      { text: 'a glacier', rules: ['rule_2'] },
    ]);
    const { against } = await world.preview({ value: 'oslo', rule_id: 'rule_1' });
    expect(against).toEqual({ added: 1, removed: 1, undecided: 0, is_estimate: false });
  });

  test("finds the platform's matches of the rule even where our evaluator denies them", async () => {
    await world.setValue('rule_1', 'aurora');
    await world.store([
      { text: 'northern lights', rules: ['rule_1'] },
      { text: 'northern lights', rules: ['rule_2'] },
      // Another version of the rule has another query.
      { text: 'northern lights', rules: ['rule_1'], version: 2 },
    ]);
    const { against } = await world.preview({ value: 'glacier', rule_id: 'rule_1' });
    expect(against).toMatchObject({ added: 0, removed: 1 });
  });

  test('with a rule that does not exist or belongs to another account is not found', async () => {
    await world.setValue('other_1', 'aurora');
    const refusals = await Promise.all(
      ['other_1', 'rule_none'].map((rule_id) => world.preview({ rule_id }).catch((error: unknown) => error)),
    );
    expect(refusals[0]).toMatchObject({ code: 'not_found' });
    expect(refusals[0]).toEqual(refusals[1]);
  });
});

describe('an estimate is based on', () => {
  const hourly = (hours: number, rules: readonly string[], text = 'aurora') =>
    Array.from({ length: hours }, (_, hour) => ({ text, rules, hoursAgo: hour + 0.5 }));

  test("the rate of the account's rule with the same query", async () => {
    await world.hold('rule_3', 'aurora', 72);
    await world.store([...hourly(80, ['rule_3', 'rule_1']), ...hourly(48, ['rule_2'])]);
    const { estimate } = await world.preview({ value: 'aurora' });
    expect(estimate).toMatchObject({
      matches_per_day: { average: 24, busiest: 24 },
      usd_per_day: { min: 0.12, max: 0.36 },
      usd_per_month: { min: 3.6, max: 10.8 },
      basis: 'history',
      bound: null,
      fee_usd: 0,
    });
    expect(estimate.basis_note).toMatch('What one of your rules with this query matched in ');
  });

  test('not a rule of another account, and only on the count of a rule that has had the query for less than a day', async () => {
    await world.hold('rule_3', 'aurora', 20);
    await world.hold('other_3', 'oslo', 72);
    await world.store([...hourly(72, ['other_3'], 'oslo'), ...hourly(20, ['rule_3'], 'oslo')]);
    // What the young rule matched is a lower bound, whatever Earshot's evaluator says.
    expect((await world.preview({ value: 'aurora' })).estimate).toMatchObject({
      matches_per_day: { average: 20, busiest: null },
      basis: 'bound',
      bound: 'at_least',
      basis_note: expect.stringMatching(/ Already 20 matches in the last 20 hours\.$/),
    });
    expect((await world.preview({ value: 'oslo' })).estimate).toMatchObject({
      basis: 'bound',
      bound: 'at_least',
    });
  });

  test('nothing, if no stored item matches', async () => {
    expect((await world.preview({})).estimate).toEqual({
      matches_per_day: null,
      busiest_hour: null,
      usd_per_day: null,
      usd_per_month: null,
      basis: 'unknown',
      bound: null,
      basis_note: 'Nothing is stored for this period, so there is no item to evaluate the query on.',
      fee_usd: 0,
    });
  });
});

test('refuses errors of a query as CreateRule does, but not suspicious findings', async () => {
  await expect(world.preview({ value: 'aurora AND oslo' })).rejects.toMatchObject({
    code: 'invalid_argument',
    details: { violations: [{ field: 'overrides.x', span: { start: 7, end: 10 } }] },
  });
  expect(await world.preview({ value: '"north cape" NOT sunset' })).toMatchObject({
    translated_value: '"north cape" not sunset',
  });
});

test('evaluates a random sample of many items, reads hardly more than that, and estimates the rest', async () => {
  const items = 20_000;
  await fillItems(world.database, { items, days: 7, bytes: 500 });
  await world.setValue('rule_1', 'rare');
  const { sample, against } = await world.preview({ value: 'scarce OR rare', rule_id: 'rule_1' });
  expect(sample.is_sampled).toBe(true);
  expect(sample.evaluated).toBeLessThan(items / 5);
  expect(sample.stored / items).toBeGreaterThan(0.9);
  expect(sample.stored / items).toBeLessThan(1.1);
  // rule_1 had all of them, so the query loses nine in ten; what is scarce is never rare.
  expect(against).toMatchObject({ is_estimate: true, added: 0 });
  expect((against?.removed ?? 0) / items).toBeGreaterThan(0.8);
  expect((against?.removed ?? 0) / items).toBeLessThan(0.98);
  const { rows } = await countReads(world.database, () => world.preview({ value: 'scarce' }));
  expect(rows).toBeLessThan(4 * 4_000);
});
