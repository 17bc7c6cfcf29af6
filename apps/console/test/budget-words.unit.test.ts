import { expect, test } from 'vitest';
import { formatCount, formatUsd } from '../src/parts/format.ts';
import { budgetWords } from '../src/screens/keys/budget-words.ts';

test('a budget is told with its unit, its period and what happens then', () => {
  expect(budgetWords({ period: 'day', usd: 5, on_reached: 'pause' })).toBe(
    `${formatUsd(5)} a day, then paused`,
  );
  expect(budgetWords({ period: 'lifetime', matches: 1_000, on_reached: 'notify' })).toBe(
    `${formatCount(1_000)} matches in all, then only a notice`,
  );
});
