import { expect, test } from 'vitest';
import { barOf } from '../src/screens/cost/budget-bar.ts';
import { byDay, byRule, type UsageEntry } from '../src/screens/cost/usage.ts';

const resources = { posts: 1, referenced_posts: 0, users: 1, pages: 0 };
const entry = (of: Partial<UsageEntry>): UsageEntry => ({
  platform: 'x',
  matches: 1,
  resources,
  usd: { min: 0.005, max: 0.015 },
  ...of,
});

test('every day of the window has an entry, and the platforms of a day are added', () => {
  const window = { from: Date.parse('2026-11-13T15:00:00Z'), to: Date.parse('2026-11-15T01:00:00Z') };
  const entries = [
    entry({ day: '2026-11-15', matches: 2 }),
    entry({ day: '2026-11-15', platform: 'firehose', matches: 3 }),
  ];
  expect(byDay(entries, window).map(({ day, matches }) => [day, matches])).toEqual([
    ['2026-11-13', 0],
    ['2026-11-14', 0],
    ['2026-11-15', 5],
  ]);
});

test('the sum of a day is the same cent as the total', () => {
  const window = { from: Date.parse('2026-11-15T00:00:00Z'), to: Date.parse('2026-11-15T01:00:00Z') };
  const costs = (usd: number) => entry({ day: '2026-11-15', usd: { min: usd, max: usd } });
  expect(byDay([costs(0.13), costs(1.005)], window)).toMatchObject([{ usd: { min: 1.135, max: 1.135 } }]);
});

test('the most expensive rule is first, and a deleted rule has no name', () => {
  const entries = [
    entry({ rule_id: 'rule_a', rule_name: 'A' }),
    entry({ rule_id: 'rule_b', rule_name: null, usd: { min: 0.1, max: 0.3 } }),
    entry({ rule_id: 'rule_a', rule_name: 'A', platform: 'firehose', usd: { min: 0.5, max: 0.5 } }),
  ];
  expect(byRule(entries)).toMatchObject([
    { ruleId: 'rule_a', name: 'A', matches: 2, platforms: ['x', 'firehose'], usd: { max: 0.515 } },
    { ruleId: 'rule_b', name: null },
  ]);
});

const budget = {
  period: 'day',
  on_reached: 'pause',
  remaining: 0,
  resets_at: null,
  reserved: 0,
  forecast: null,
} as const;

test('a budget is near at 80%, spent at 100%, and its bar is never longer than 100%', () => {
  expect(barOf({ ...budget, usd: 5, spent: 3.99 })).toEqual({
    unit: 'usd',
    limit: 5,
    share: 0.798,
    level: 'calm',
  });
  expect(barOf({ ...budget, matches: 10, spent: 8 })).toMatchObject({
    unit: 'matches',
    share: 0.8,
    level: 'near',
  });
  expect(barOf({ ...budget, usd: 5, spent: 6 })).toMatchObject({ share: 1, level: 'spent' });
});
