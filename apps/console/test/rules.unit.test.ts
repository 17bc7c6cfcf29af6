import { expect, test } from 'vitest';
import { forecast } from '../src/screens/rules/budget-forecast.ts';

const budget = { on_reached: 'pause', remaining: 0, reserved: 0 } as const;

test('forecasts the spending at the rate of the elapsed part of the period', () => {
  const day = { ...budget, period: 'day', usd: 5, spent: 2, resets_at: '2026-11-17T00:00:00.000Z' } as const;
  expect(forecast(day, new Date('2026-11-16T06:00:00.000Z'))).toEqual({ amount: 5, spent: 2, expected: 8 });
  const month = { ...day, period: 'month', resets_at: '2026-12-01T00:00:00.000Z' } as const;
  expect(forecast(month, new Date('2026-11-16T00:00:00.000Z')).expected).toBeCloseTo(4);
});

test('makes no forecast for a period that has just begun or never ends', () => {
  const day = {
    ...budget,
    period: 'day',
    matches: 5,
    spent: 2,
    resets_at: '2026-11-17T00:00:00.000Z',
  } as const;
  expect(forecast(day, new Date('2026-11-16T00:05:00.000Z')).expected).toBeNull();
  const forever = { ...day, period: 'lifetime', resets_at: null } as const;
  expect(forecast(forever, new Date('2026-11-16T12:00:00.000Z')).expected).toBeNull();
});
