import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type Budget,
  budget,
  formatBudget,
  isLooserBudget,
  parseBudget,
  parseTrial,
} from '../src/budgets.ts';

const budgets: fc.Arbitrary<Budget> = fc
  .tuple(
    fc.constantFrom('day', 'month', 'lifetime'),
    fc.constantFrom('pause', 'notify'),
    fc.oneof(
      fc.integer({ min: 1, max: 100_000_000 }).map((cents) => ({ usd: cents / 100 })),
      fc.integer({ min: 1, max: 1_000_000_000 }).map((matches) => ({ matches })),
    ),
  )
  .map(([period, on_reached, amount]) => ({ period, ...amount, on_reached }) as const);

describe('parseBudget', () => {
  test('restores a formatted budget', () => {
    fc.assert(
      fc.property(budgets, (one) => {
        expect(parseBudget(formatBudget(one))).toEqual(one);
      }),
    );
  });

  test('defaults to pause instead of notify', () => {
    expect(parseBudget('usd=5/day')).toEqual({ period: 'day', usd: 5, on_reached: 'pause' });
    expect(parseBudget('matches=1000/month:notify')).toMatchObject({ matches: 1_000, on_reached: 'notify' });
  });

  test.for([
    '',
    '5',
    'usd=5',
    'usd=/day',
    'usd=0/day',
    'usd=-5/day',
    'usd=5/week',
    'usd=1e3/day',
    'usd=2000000/day',
    'usd=0.0000001/day',
    'matches=1.5/day',
    'eur=5/day',
    'usd=5/day:sample',
    'usd=5,matches=3/day',
  ])('refuses %j', (text) => expect(parseBudget(text)).toBeNull());
});

test.for([
  [{ period: 'day' }, 'exactly one'],
  [{ period: 'day', usd: 5, matches: 5 }, 'exactly one'],
  [{ period: 'day', usd: 0 }, 'US dollars above 0'],
  [{ usd: 5 }, '"period" is required'],
  [{ period: 'day', usd: 5, on_reached: 'sample' }, 'pause'],
  [{ period: 'day', usd: 5, per: 'rule' }, '"per" is not a field'],
] as const)('refuses the budget %j', ([given, words]) => {
  const messages = budget.safeParse(given).error?.issues.map(({ message }) => message) ?? [];
  expect(messages.join(' ')).toContain(words);
});

test.for([
  ['usd=5/day', 'usd=5/day', false],
  ['usd=5/day', 'usd=4/day', false],
  ['usd=5/day', 'usd=6/day', true],
  ['usd=5/day', 'usd=5/month', false],
  ['usd=5/day', 'usd=6/month', true],
  ['usd=5/month', 'usd=5/day', true],
  ['usd=5/month', 'usd=5/lifetime', false],
  ['matches=5/day', 'matches=4/day', false],
  ['matches=5/day', 'usd=1/day', true],
  ['usd=5/day', 'usd=4/day:notify', true],
  ['usd=5/day:notify', 'usd=5/day', false],
  ['usd=5/day', 'none', true],
] as const)('the change from %s to %s is looser: %s', ([before, after, isLooser]) => {
  const from = parseBudget(before);
  if (from === null) throw new Error(`${before} is no budget`);
  expect(isLooserBudget(from, parseBudget(after))).toBe(isLooser);
});

describe('parseTrial', () => {
  test.for([
    ['30m,matches=50', { minutes: 30, max_matches: 50 }],
    [' 2h,matches=500 ', { minutes: 120, max_matches: 500 }],
    ['24h,matches=10000', { minutes: 1_440, max_matches: 10_000 }],
  ] as const)('reads %s', ([text, read]) => expect(parseTrial(text)).toEqual(read));

  test.each([
    '',
    '30m',
    'matches=50',
    '30,matches=50',
    '0m,matches=50',
    '30m,matches=0',
    '1441m,matches=50',
    '25h,matches=50',
    '30m,matches=10001',
    '30m,usd=5',
    '1d,matches=50',
  ])('refuses %j', (text) => expect(parseTrial(text)).toBeNull());
});
