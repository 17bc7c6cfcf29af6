import { describe, expect, test } from 'vitest';
import { seriesOf, volumeOf, volumeOfTrial } from './estimate.ts';
import { fromTrial } from './estimate-volume.ts';

const hourMs = 3_600_000;
const days = (perDay: readonly number[]) => ({
  fromMs: 0,
  counts: perDay.flatMap((count) => Array.from({ length: 24 }, (_, hour) => (hour === 15 ? count : 0))),
});

describe('what a day brings', () => {
  test.each([
    // Poisson: quantiles as tables have them.
    [[4, 4, 4, 4], 4, 7],
    [[1, 1, 1], 1, 2],
    [[100, 100, 100], 100, 113],
    [[0, 0, 0], 0, 0],
    // By the normal approximation, which tables use for large means: 10,000 ± 1.28 × 100.
    [[10_000, 10_000], 10_000, 10_128],
  ])('days that differ by chance only: %j', (perDay, p50, p90) => {
    expect(volumeOf(days(perDay))).toMatchObject({ p50, p90 });
  });

  test('days that differ more have a higher busy day and a lower typical one', () => {
    // Mean 40, variance 1,800, from four days 2,250: the quantiles by summing the probabilities with log-gamma functions.
    expect(volumeOf(days([10, 10, 40, 100]))).toMatchObject({ p50: 24, p90: 100 });
  });

  test('of a part that was looked at: chance in choosing it is not taken for bursts', () => {
    // Every tenth match: 10, 12 and 8 a day are 100 ± what choosing does.
    expect(volumeOf({ ...days([10, 12, 8]), scale: 10 })).toEqual({
      mean: 100,
      p50: 100,
      p90: 113,
      busiestHour: null,
    });
  });

  test('sums and approximation agree where one takes over from the other', () => {
    const below = volumeOf(days([490, 420, 560, 480]));
    const above = volumeOf(days([510, 440, 580, 500]));
    expect(above.p50 - below.p50).toBeCloseTo(20, -1);
    expect(above.p90 - below.p90).toBeLessThan(40);
    expect(above.p90).toBeGreaterThan(below.p90);
  });

  test('counts back from the end, and leaves out a day that is not whole', () => {
    const { counts } = days([8, 8]);
    expect(volumeOf({ fromMs: 0, counts: [1_000, ...counts] })).toMatchObject({ p50: 8 });
  });

  test('with less than a day it is scaled up', () => {
    expect(volumeOf({ fromMs: 0, counts: [10, 10, 10, 10, 10, 10] })).toMatchObject({ p50: 240 });
  });

  test('names the busiest hour', () => {
    expect(volumeOf(days([3, 9, 4])).busiestHour).toEqual({ startsAtMs: (24 + 15) * hourMs, matches: 9 });
    expect(volumeOf(days([0])).busiestHour).toBeNull();
  });
});

test('times become complete hours', () => {
  const at = (hours: number) => new Date(hours * hourMs);
  expect(seriesOf([at(0.5), at(1.1), at(1.9), at(3.5), at(4.2)], 0.2 * hourMs, 4.5 * hourMs)).toEqual({
    fromMs: hourMs,
    counts: [2, 0, 1],
  });
});

describe('what a trial tells', () => {
  const minuteMs = 60_000;

  test('the rate, and a busy day that also allows for how little is known of it', () => {
    const { mean, p50, p90, busiestHour } = volumeOfTrial(52, 14 * minuteMs);
    expect([Math.round(mean), p50, busiestHour]).toEqual([5_349, 5_349, null]);
    // With 52 seen, the rate is gamma distributed: tables of chi-square with 104 degrees have 1.1813 times the mean.
    expect(p90 / mean).toBeCloseTo(1.1813, 2);
  });

  test('of a single match hardly anything', () => {
    // Geometric with the mean 48: 1 − (48/49)¹¹² is the first above 0.9.
    expect(volumeOfTrial(1, 30 * minuteMs)).toMatchObject({ mean: 48, p50: 48, p90: 111 });
  });

  test('of none an upper bound: e⁻³ is one in twenty', () => {
    expect(volumeOfTrial(0, 30 * minuteMs)).toMatchObject({ mean: 144, p50: 144, p90: 144 });
  });

  test.each([
    [52, 14 * minuteMs, '52 matches in 14 minutes of a trial; about ±27 %'],
    [400, 90_000, '400 matches in 90 seconds of a trial; about ±10 %'],
    [4, 300 * minuteMs, '4 matches in 300 minutes of a trial; about ±98 %'],
    [1, 30 * minuteMs, '1 match in 30 minutes of a trial; little more than a guess'],
    [0, 30 * minuteMs, 'No match in 30 minutes of a trial; at most about 144 a day'],
  ])('%i matches in %i ms', (matches, heardMs, note) => {
    expect(fromTrial({ matches, heardMs, isRunning: false })).toMatchObject({
      basis: 'trial',
      bound: matches === 0 ? 'at_most' : null,
      note: `${note}, if the time of day makes no difference.`,
    });
  });

  test('while it runs, of the time so far', () => {
    const { note } = fromTrial({ matches: 10, heardMs: 5 * minuteMs, isRunning: true });
    expect(note).toMatch('10 matches in the first 5 minutes of a trial; about ±62 %, ');
  });
});
