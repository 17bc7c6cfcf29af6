import { describe, expect, test } from 'vitest';
import { seriesOf, volumeOf } from './estimate.ts';

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
