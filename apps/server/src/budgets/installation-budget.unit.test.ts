import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { platforms } from '../upstream/platforms.ts';
import { allowanceOf, atRiskOf } from './installation-budget.ts';

const now = new Date('2026-11-16T10:00:00Z');
const tomorrow = new Date('2026-11-17');
const nextMonth = new Date('2026-12-01');
const nothing = { day: 0, month: 0, atRisk: 0, uncounted: 0 };
const usd = fc.double({ min: 0, max: 1_000, noNaN: true });
const someBills = fc.record({ day: usd, month: usd, atRisk: usd, uncounted: usd });
const someCaps = fc.record({ day: fc.option(usd), month: fc.option(usd) });

describe('allowanceOf', () => {
  test('allows at most the cap minus the counted and the uncounted bill', () => {
    fc.assert(
      fc.property(someCaps, someBills, (caps, bills) => {
        const { remainingUsd, reached } = allowanceOf(caps, bills, now);
        for (const period of ['day', 'month'] as const) {
          const cap = caps[period];
          if (cap === null) continue;
          expect(remainingUsd).toBeLessThanOrEqual(cap - bills[period] - bills.uncounted);
          // Not reached: the cap holds even with what arrives until a stop is applied.
          if (reached === null) expect(bills[period] + bills.atRisk + bills.uncounted).toBeLessThan(cap);
        }
        const isSure = (['day', 'month'] as const).some((period) => {
          const cap = caps[period];
          return cap !== null && bills[period] + bills.atRisk >= cap;
        });
        expect(reached?.isSure ?? false).toBe(isSure);
      }),
    );
  });

  test('allows everything without a cap', () => {
    const allowance = allowanceOf({ day: null, month: null }, { ...nothing, day: 1e9, month: 1e9 }, now);
    expect(allowance).toEqual({ remainingUsd: Number.POSITIVE_INFINITY, reached: null });
  });

  test('resets when the longest of the reached periods ends', () => {
    const caps = { day: 10, month: 100 };
    const resets = (bills: Partial<typeof nothing>) =>
      allowanceOf(caps, { ...nothing, ...bills }, now).reached;
    expect(resets({ day: 9.99, month: 99.9 })).toBeNull();
    expect(resets({ day: 10, month: 50 })).toEqual({ resetsAt: tomorrow, isSure: true });
    expect(resets({ day: 10, month: 100 })).toEqual({ resetsAt: nextMonth, isSure: true });
    expect(resets({ day: 0, month: 100 })).toEqual({ resetsAt: nextMonth, isSure: true });
    expect(resets({ day: 9, month: 9, atRisk: 1 })).toEqual({ resetsAt: tomorrow, isSure: true });
    expect(resets({ day: 9, month: 9, uncounted: 1 })).toEqual({ resetsAt: tomorrow, isSure: false });
    // The monthly cap is not sure, the daily one is.
    expect(resets({ day: 10, month: 95, uncounted: 5 })).toEqual({ resetsAt: tomorrow, isSure: true });
  });
});

describe('atRiskOf', () => {
  const sample = (atMs: number, x: number, firehose: number) => ({
    atMs,
    usd: new Map([
      ['x:main', x],
      ['firehose:main', firehose],
      ['gone:main', atMs],
    ]),
  });

  test('adds what each source is billed until its platform applies a stop', () => {
    const [a, b] = [platforms.x.stopsWithinMs, platforms.firehose.stopsWithinMs];
    expect(atRiskOf([sample(0, 5, 5), sample(30_000, 7, 6), sample(60_000, 11, 8)])).toBeCloseTo(
      (6 / 60_000) * a + (3 / 60_000) * b,
    );
  });

  test('is zero with one sample, and ignores chance with two samples close together', () => {
    expect(atRiskOf([])).toBe(0);
    expect(atRiskOf([sample(0, 5, 5)])).toBe(0);
    expect(atRiskOf([sample(0, 5, 5), sample(1, 6, 5)])).toBeCloseTo(platforms.x.stopsWithinMs / 10_000);
  });

  test('is zero when a new month has begun', () => {
    expect(atRiskOf([sample(0, 500, 500), sample(60_000, 1, 2)])).toBe(0);
  });
});
