import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { noneSeen, seenMatches, seriesOf, volumeOf, volumeOfTrial } from './estimate.ts';
import { type Basis, fromStoredItems, fromTrial, toEstimate } from './estimate-volume.ts';

const hourMs = 3_600_000;
const days = (perDay: readonly number[]) => ({
  fromMs: 0,
  counts: perDay.flatMap((count) => Array.from({ length: 24 }, (_, hour) => (hour === 15 ? count : 0))),
});

describe('volumeOf', () => {
  test('returns the average and the busiest day', () => {
    expect(volumeOf(days([10, 10, 40, 100]))).toMatchObject({ average: 40, busiest: 100, days: 4 });
    expect(volumeOf(days([0, 0, 0]))).toMatchObject({ average: 0, busiest: 0, days: 3 });
  });

  test('scales the counts up if only a sample was evaluated', () => {
    expect(volumeOf({ ...days([10, 12, 8]), scale: 10 })).toEqual({
      average: 100,
      busiest: 120,
      days: 3,
      busiestHour: null,
    });
  });

  test('counts days back from the end, and ignores an incomplete day', () => {
    const { counts } = days([8, 8]);
    expect(volumeOf({ fromMs: 0, counts: [1_000, ...counts] })).toMatchObject({ average: 8, busiest: 8 });
  });

  test('has no busiest day if there is only one', () => {
    expect(volumeOf(days([8]))).toMatchObject({ average: 8, busiest: null, days: 1 });
  });

  test('scales up from less than a day', () => {
    const part = { fromMs: 0, counts: [10, 10, 10, 10, 10, 10], scale: 2 };
    expect(volumeOf(part)).toMatchObject({ average: 480, busiest: null, days: 0 });
  });

  test('returns the busiest hour', () => {
    expect(volumeOf(days([3, 9, 4])).busiestHour).toEqual({ startsAtMs: (24 + 15) * hourMs, matches: 9 });
    expect(volumeOf(days([0])).busiestHour).toBeNull();
    const { counts } = days([8, 8]);
    expect(volumeOf({ fromMs: 0, counts: [1_000, ...counts] }).busiestHour).toMatchObject({ matches: 8 });
  });
});

test('seriesOf groups times into complete hours that end now', () => {
  const at = (hours: number) => new Date(hours * hourMs);
  expect(seriesOf([at(0.4), at(1.1), at(1.9), at(3.5), at(4.5)], 0.2 * hourMs, 4.5 * hourMs)).toEqual({
    fromMs: 0.5 * hourMs,
    counts: [1, 1, 0, 2],
  });
});

describe('an estimate', () => {
  const minuteMs = 60_000;
  const nowMs = 30 * 24 * hourMs;
  const price = { min: 0.005, max: 0.015 };
  const agesMinutes = fc.array(fc.integer({ min: 0, max: 3 * 24 * 60 }), { maxLength: 300 });
  const timesOf = (ages: readonly number[]) => ages.map((age) => new Date(nowMs - age * minuteMs));
  const bound = fc.constantFrom('at_least' as const, 'at_most' as const, null);
  const ofCounts = fc
    .record({
      bound,
      counts: fc.array(fc.nat(20), { minLength: 1, maxLength: 168 }),
      share: fc.constantFrom(1, 0.1),
    })
    .map(({ bound, counts, share }): Basis => {
      const fromMs = nowMs - counts.length * hourMs;
      const volume = volumeOf({ fromMs, counts: counts.map((count) => count * share) });
      return { basis: 'counts', bound, note: 'Counts.', volume, feeUsd: 0 };
    });
  const ofTrial = fc
    .record({
      matches: fc.nat(20),
      coveredMs: fc.integer({ min: minuteMs, max: 24 * hourMs }),
      isRunning: fc.boolean(),
    })
    .map(fromTrial);
  const ofStored = fc.record({ ages: agesMinutes, scale: fc.constantFrom(1, 3.7) }).map(({ ages, scale }) => {
    const matchedAt = timesOf(ages);
    const earliest = new Date(nowMs - Math.max(...ages, 0) * minuteMs);
    const rest = { evaluated: 0, undecided: 0, shown: [], added: 0, removed: 0, incomparable: 0 };
    return fromStoredItems({ matchedAt, earliest, scale, ...rest }, nowMs);
  });

  test('is never below what was counted, and no day is below the busiest hour', () => {
    fc.assert(
      fc.property(fc.oneof(ofCounts, ofTrial, ofStored), agesMinutes, (basis, ages) => {
        const seen = seenMatches(timesOf(ages), nowMs);
        const shown = toEstimate(basis, { seen, nowMs, price });
        const { matches_per_day: perDay, busiest_hour: hour } = shown;
        if (perDay === null) return seen.lastDay === 0;
        const day = perDay.busiest ?? perDay.average;
        expect(day).toBeGreaterThanOrEqual(seen.lastDay);
        expect(day).toBeGreaterThanOrEqual(perDay.average);
        if (hour) {
          expect(hour.matches).toBeGreaterThanOrEqual(seen.lastHour);
          expect(day).toBeGreaterThanOrEqual(hour.matches);
        }
        if (shown.bound !== null) expect([perDay.busiest, hour]).toEqual([null, null]);
        return true;
      }),
    );
  });

  test('below what was counted is replaced by that, with the time that it took', () => {
    const volume = volumeOf(days([30, 40, 48]));
    const basis = { basis: 'counts', bound: null, note: 'From counts.', volume, feeUsd: 0.005 } as const;
    const seen = seenMatches(timesOf(Array.from({ length: 142 }, (_, n) => n / 4)), nowMs);
    expect(toEstimate(basis, { seen, nowMs, price })).toEqual({
      matches_per_day: { average: 142, busiest: null, days: 0 },
      busiest_hour: null,
      usd_per_day: { min: 0.71, max: 2.13 },
      usd_per_month: { min: 21.3, max: 63.9 },
      basis: 'bound',
      bound: 'at_least',
      basis_note: 'From counts. Already 142 matches in the last 35 minutes.',
      fee_usd: 0.005,
    });
  });

  test('from the stored items of minutes has the minutes in its note', () => {
    const items = { evaluated: 9, undecided: 0, shown: [], added: 0, removed: 0, incomparable: 0, scale: 1 };
    const matchedAt = timesOf([1, 2, 3]);
    const note = (minutes: number) =>
      fromStoredItems(
        { ...items, matchedAt, earliest: new Date(nowMs - minutes * minuteMs) },
        nowMs,
      ).note.replace(/^.*matched in (.*) were.*$/, '$1');
    expect([note(3), note(60), note(3_000)]).toEqual(['3 minutes, counted as an hour,', '1 hour', '2 days']);
  });

  test('without matches in the last day keeps its figures', () => {
    const volume = volumeOf(days([30, 40, 50]));
    const basis = { basis: 'history', bound: null, note: 'n', volume, feeUsd: 0 } as const;
    expect(toEstimate(basis, { seen: noneSeen, nowMs, price })).toMatchObject({
      matches_per_day: { average: 40, busiest: 50, days: 3 },
      busiest_hour: { matches: 50 },
      basis: 'history',
      bound: null,
    });
  });
});

describe('an estimate from a trial', () => {
  const minuteMs = 60_000;

  test('has the rate, and no busiest day', () => {
    const { average, ...rest } = volumeOfTrial(52, 14 * minuteMs);
    expect(Math.round(average)).toBe(5_349);
    expect(rest).toEqual({ busiest: null, days: 0, busiestHour: null });
  });

  test('is an upper bound without matches: e⁻³ is one in twenty', () => {
    expect(volumeOfTrial(0, 30 * minuteMs)).toMatchObject({ average: 144, busiest: null });
  });

  test.each([
    [52, 14 * minuteMs, '52 matches in 14 minutes of a trial; about ±27%'],
    [400, 90_000, '400 matches in 90 seconds of a trial; about ±10%'],
    [4, 300 * minuteMs, '4 matches in 5 hours of a trial; about ±98%'],
    [1, 30 * minuteMs, '1 match in 30 minutes of a trial; little more than a guess'],
    [0, 30 * minuteMs, 'No match in 30 minutes of a trial; at most about 144 a day'],
  ])('%i matches in %i ms', (matches, coveredMs, note) => {
    expect(fromTrial({ matches, coveredMs, isRunning: false })).toMatchObject({
      basis: 'trial',
      bound: matches === 0 ? 'at_most' : null,
      note: `${note}, if the time of day makes no difference.`,
    });
  });

  test('covers the time so far while the trial runs', () => {
    const { note } = fromTrial({ matches: 10, coveredMs: 5 * minuteMs, isRunning: true });
    expect(note).toMatch('10 matches in the first 5 minutes of a trial; about ±62%, ');
  });
});
