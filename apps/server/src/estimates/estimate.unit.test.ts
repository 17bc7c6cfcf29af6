import { describe, expect, test } from 'vitest';
import { seriesOf, volumeOf, volumeOfTrial } from './estimate.ts';
import { fromTrial } from './estimate-volume.ts';

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
  });
});

test('seriesOf groups times into complete hours', () => {
  const at = (hours: number) => new Date(hours * hourMs);
  expect(seriesOf([at(0.5), at(1.1), at(1.9), at(3.5), at(4.2)], 0.2 * hourMs, 4.5 * hourMs)).toEqual({
    fromMs: hourMs,
    counts: [2, 0, 1],
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
    [4, 300 * minuteMs, '4 matches in 300 minutes of a trial; about ±98%'],
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
