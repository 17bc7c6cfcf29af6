import { expect, test } from 'vitest';
import { formatCount, formatUsd } from '../src/parts/format.ts';
import { budgetWords } from '../src/screens/keys/budget-words.ts';

test('describes a budget with its unit, its period and what happens when it is spent', () => {
  expect(budgetWords({ period: 'day', usd: 5, on_reached: 'pause' })).toBe(
    `${formatUsd(5)} per day, then pause its rules`,
  );
  expect(budgetWords({ period: 'lifetime', matches: 1_000, on_reached: 'notify' })).toBe(
    `${formatCount(1_000)} matches in total, then only notify`,
  );
});
