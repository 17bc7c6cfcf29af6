import fc from 'fast-check';
import { expect, test } from 'vitest';
import { judgeRate } from './rate-guard.ts';

const ample = { cap: 1_000_000, spent: 0, perMinute: 1 };
const scarce = { cap: 100, spent: 71, perMinute: 1 };

test.each([
  ['a burst', { latest: 61, before: 61, usual: 10 }, [ample], 'tell'],
  ['six times what is usual', { latest: 60, before: 61, usual: 10 }, [ample], 'calm'],
  ['one busy minute', { latest: 500, before: 60, usual: 10 }, [ample], 'calm'],
  ['few matches where none are usual', { latest: 20, before: 20, usual: 0 }, [ample], 'calm'],
  [
    'a burst that would spend a budget in 29 minutes',
    { latest: 61, before: 61, usual: 10 },
    [ample, scarce],
    'pause',
  ],
  ['a burst that would in 30', { latest: 61, before: 61, usual: 10 }, [{ ...scarce, spent: 70 }], 'tell'],
  ['a usual rate that would', { latest: 60, before: 60, usual: 10 }, [scarce], 'calm'],
  ['a young rule that would', { latest: 21, before: 21, usual: null }, [scarce], 'pause'],
  ['a young rule that would not', { latest: 900, before: 900, usual: null }, [ample], 'calm'],
  ['a burst without a budget', { latest: 61, before: 61, usual: 10 }, [], 'tell'],
] as const)('%s', (_, rate, spendings, verdict) => {
  expect(judgeRate(rate, spendings)).toBe(verdict);
});

test('more matches, or less that is usual or left, never calm the guard', () => {
  const order = ['calm', 'tell', 'pause'];
  const count = fc.nat(500);
  const more = fc.record({ latest: count, before: count, usual: count, spent: count });
  fc.assert(
    fc.property(more, more, ({ latest, before, usual, spent }, plus) => {
      const judge = (one: typeof plus) =>
        order.indexOf(judgeRate(one, [{ cap: 1_000, spent: one.spent, perMinute: 5 }]));
      expect(
        judge({
          latest: latest + plus.latest,
          before: before + plus.before,
          usual: Math.max(0, usual - plus.usual),
          spent: spent + plus.spent,
        }),
      ).toBeGreaterThanOrEqual(judge({ latest, before, usual, spent }));
    }),
  );
});
