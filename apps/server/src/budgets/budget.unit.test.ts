import { parseBudget } from '@earshot/contract';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { whole } from '../billing/divide.ts';
import { defaultPrices } from '../billing/prices.ts';
import { type CountedSpending, forecastAtEnd, periodAt, recentMs } from '../billing/spending.ts';
import { platforms } from '../upstream/platforms.ts';
import {
  decide,
  earlyResumeAt,
  isAbove,
  isWorthResuming,
  resumeEarlyAfterMs,
  type Standing,
  standingOf,
} from './budget.ts';

const dates = fc.date({ min: new Date('2020-01-01'), max: new Date('2040-01-01'), noInvalidDate: true });
const kinds = fc.constantFrom('day', 'month', 'lifetime');

describe('periodAt', () => {
  test('returns the period that contains the time, and the next one begins where it ends', () => {
    fc.assert(
      fc.property(kinds, dates, (kind, now) => {
        const { start, end } = periodAt(kind, now);
        expect(start.getTime()).toBeLessThanOrEqual(now.getTime());
        expect(end === null).toBe(kind === 'lifetime');
        if (end === null) return;
        expect(end.getTime()).toBeGreaterThan(now.getTime());
        expect(periodAt(kind, end).start).toEqual(end);
        expect(periodAt(kind, new Date(end.getTime() - 1)).start).toEqual(start);
      }),
    );
  });

  test('uses UTC, also at the end of the month', () => {
    expect(periodAt('day', new Date('2026-12-31T23:59:59.999Z')).end).toEqual(new Date('2027-01-01'));
    expect(periodAt('month', new Date('2028-02-29T12:00:00Z'))).toEqual({
      start: new Date('2028-02-01'),
      end: new Date('2028-03-01'),
    });
  });
});

const now = new Date('2026-11-16T12:00:00Z');
const context = { prices: defaultPrices(), now, since: new Date('2026-11-01') };
const counted = (more: Partial<CountedSpending>): CountedSpending => ({
  platform: 'x',
  matches: 0,
  items: 0,
  users: 0,
  referenced_posts: 0,
  recent_matches: 0,
  ...more,
});

describe('spentAmounts', () => {
  const posts = counted({ matches: 10, items: 10 * whole, users: 20 * whole, referenced_posts: 10 * whole });

  test('counts included resources: a cap holds at the highest reading of the prices', () => {
    const { spent } = standingOf({ period: 'day', usd: 5, on_reached: 'pause' }, [posts], context);
    expect(spent).toBe(10 * 0.005 + 20 * 0.01 + 10 * 0.005);
  });

  test('counts matches for a budget in matches', () => {
    const budget = { period: 'day', matches: 5, on_reached: 'pause' } as const;
    expect(standingOf(budget, [posts], context)).toMatchObject({ spent: 10, cap: 5 });
  });

  test('reserves what arrives at the rate of the last minute until each platform applies a stop', () => {
    const budget = { period: 'day', usd: 5, on_reached: 'pause' } as const;
    const recent = [
      counted({ matches: 100, items: 100 * whole, recent_matches: 60 }),
      counted({ platform: 'firehose', matches: 100, items: 100 * whole, recent_matches: 60 }),
    ];
    const perSecond = 60 / (recentMs / 1_000);
    const { reserved } = standingOf(budget, recent, context);
    const matchesOf = (platform: 'x' | 'firehose') => (platforms[platform].stopsWithinMs / 1_000) * perSecond;
    expect(reserved).toBeCloseTo(matchesOf('x') * 0.005 + matchesOf('firehose') * 0.005, 9);
  });

  test('reserves matches for a budget in matches', () => {
    const budget = { period: 'day', matches: 500, on_reached: 'pause' } as const;
    const recent = [counted({ matches: 100, items: 100 * whole, recent_matches: 60 })];
    expect(standingOf(budget, recent, context).reserved).toBeCloseTo(70, 9);
  });
});

describe('forecastAtEnd', () => {
  const at = (time: string) => new Date(`2026-11-16T${time}Z`);
  const forecast = (kind: 'day' | 'month' | 'lifetime', since: string | null, time: string) =>
    forecastAtEnd(
      { spent: 2, period: periodAt(kind, at(time)), since: since === null ? null : new Date(since) },
      at(time),
    );

  test('continues at the rate since the period began', () => {
    expect(forecast('day', '2026-11-01', '06:00')).toBe(8);
    expect(forecast('month', '2026-10-01', '00:00')).toBe(4);
  });

  test('continues at the rate since the rule began in the period', () => {
    expect(forecast('day', '2026-11-16T10:00Z', '12:00')).toBe(2 + 12);
    expect(forecast('month', '2026-11-15T00:00Z', '00:00')).toBe(2 + 30);
  });

  test('is unknown in the first hour of the period or the rule, without a rule, and for a lifetime', () => {
    expect(forecast('day', '2026-11-01', '00:59')).toBeNull();
    expect(forecast('day', '2026-11-16T11:01Z', '12:00')).toBeNull();
    expect(forecast('month', '2026-11-16T00:00Z', '12:00')).toBeNull();
    expect(forecast('day', null, '12:00')).toBeNull();
    expect(forecast('lifetime', '2026-11-01', '12:00')).toBeNull();
  });
});

const standings: fc.Arbitrary<Standing> = fc
  .record({
    cap: fc.double({ min: 0.01, max: 1_000, noNaN: true }),
    spent: fc.double({ min: 0, max: 2_000, noNaN: true }),
    reserved: fc.double({ min: 0, max: 100, noNaN: true }),
    perMatch: fc.double({ min: 0, max: 1, noNaN: true }),
    kind: kinds,
    since: fc.option(fc.date({ min: new Date('2026-10-01'), max: now, noInvalidDate: true })),
  })
  .map(({ kind, ...amounts }) => ({
    ...amounts,
    period: periodAt(kind, now),
  }));

describe('decide', () => {
  test('stops before what still arrives would pass the cap, and no earlier', () => {
    fc.assert(
      fc.property(standings, (standing) => {
        const { isReached } = decide(standing, now);
        expect(isReached).toBe(standing.spent + standing.reserved >= standing.cap);
        // If a budget is reached, it is also reached with more spent.
        if (isReached) expect(decide({ ...standing, spent: standing.spent * 1.5 }, now).isReached).toBe(true);
      }),
    );
  });

  test('passes thresholds in order', () => {
    fc.assert(
      fc.property(standings, (standing) => {
        const { passed } = decide(standing, now);
        expect(passed).toEqual([50, 80].filter((percent) => standing.spent / standing.cap >= percent / 100));
      }),
    );
  });

  test('forecasts only moments that are ahead in the period', () => {
    fc.assert(
      fc.property(standings, dates, (standing, at) => {
        const period = periodAt('month', at);
        const { forecastAt } = decide({ ...standing, period }, at);
        const begunMs =
          at.getTime() - Math.max(period.start.getTime(), standing.since?.getTime() ?? at.getTime());
        if (begunMs < 3_600_000) expect(forecastAt).toBeNull();
        if (forecastAt === null) return;
        expect(forecastAtEnd({ ...standing, period }, at)).toBeGreaterThanOrEqual(standing.cap);
        expect(forecastAt.getTime()).toBeGreaterThan(at.getTime());
        expect(forecastAt.getTime()).toBeLessThanOrEqual(period.end?.getTime() ?? 0);
      }),
    );
  });

  test('forecasts the day on which a monthly budget will be spent', () => {
    const period = periodAt('month', now);
    // 15.5 days of 30 have passed.
    const at = (spent: number) =>
      decide({ cap: 31, spent, reserved: 0, perMatch: 0, period, since: new Date(0) }, now).forecastAt;
    expect(at(25)?.toISOString().slice(0, 10)).toBe('2026-11-20');
    expect(at(15.5)).toBeNull();
    expect(at(31)).toBeNull();
    const early = new Date('2026-11-02T00:00:00Z');
    expect(
      decide({ cap: 31, spent: 25, reserved: 0, perMatch: 0, period, since: new Date(0) }, early).forecastAt,
    ).toBeNull();
  });
});

describe('an early pause', () => {
  const standing = {
    cap: 1,
    spent: 0.9,
    reserved: 0.2,
    perMatch: 0.1,
    period: periodAt('day', now),
    since: null,
  };

  test('is followed by a resume only if another match is affordable', () => {
    expect(isWorthResuming(standing)).toBe(true);
    expect(isWorthResuming({ ...standing, perMatch: 0.100001 })).toBe(false);
    expect(isWorthResuming({ ...standing, spent: 1 })).toBe(false);
  });

  test('ends after two minutes, or when the next period begins', () => {
    expect(earlyResumeAt(standing, now)).toEqual(new Date('2026-11-16T12:02:00Z'));
    expect(earlyResumeAt(standing, new Date('2026-11-16T23:59:00Z'))).toEqual(new Date('2026-11-17'));
    expect(earlyResumeAt({ ...standing, period: periodAt('lifetime', now) }, now)).toEqual(
      new Date('2026-11-16T12:02:00Z'),
    );
  });

  test('lasts longer than any platform keeps delivering', () => {
    for (const { stopsWithinMs } of Object.values(platforms))
      expect(resumeEarlyAfterMs).toBeGreaterThan(stopsWithinMs);
  });
});

test.each([
  ['usd=1/day', true],
  ['usd=2/day', false],
  ['usd=59/month', true],
  ['usd=60/month', false],
  ['usd=1.9/lifetime', true],
  ['usd=2/lifetime', false],
  ['matches=99/day', true],
  ['matches=100/day', false],
  ['matches=2999/month', true],
  ['matches=3000/month', false],
])('100 matches and $2 a day are above %s in a month of 30 days: %s', (text, above) => {
  const budget = parseBudget(text);
  if (budget === null) throw new Error(`${text} is no budget`);
  expect(isAbove(budget, { matches: 100, usd: 2 }, new Date('2026-11-16T10:00:00Z'))).toBe(above);
});
