import { describe, expect, test } from 'vitest';
import { afterMinute, newVolume, type Volume } from './volume.ts';

/** Minutes one after the other; returns what was known after each. */
function live(volume: Volume, minutes: readonly number[]): Volume[] {
  let now = volume;
  return minutes.map((events) => {
    now = afterMinute(now, events);
    return now;
  });
}
const steady = (minutes: number, events: number) => Array.from({ length: minutes }, () => events);
const last = (volumes: readonly Volume[]) => volumes.at(-1) ?? newVolume(null);
/** After how many minutes it was said to be quiet; null when it never was. */
const quietAfter = (volumes: readonly Volume[]) => {
  const index = volumes.findIndex(({ isQuiet }) => isQuiet);
  return index < 0 ? null : index + 1;
};
/** Uneven like real streams, the same on every run. */
const uneven = (minutes: number, mean: number) =>
  Array.from({ length: minutes }, (_, minute) =>
    Math.max(0, Math.round(mean * (1 + 0.6 * Math.sin(minute * 2.4)))),
  );

describe('a stream that stays up', () => {
  test.each([2, 10, 300, 100_000])(
    'and brings nothing instead of %i a minute is quiet within 20 minutes',
    (rate) => {
      const usual = last(live(newVolume(null), uneven(180, rate)));
      const after = quietAfter(live(usual, steady(20, 0)));
      expect(after).not.toBeNull();
      expect(after).toBeGreaterThan(5);
    },
  );

  test('and brings a trickle is quiet too', () => {
    const usual = last(live(newVolume(null), uneven(180, 300)));
    expect(quietAfter(live(usual, steady(20, 3)))).toBeLessThanOrEqual(20);
  });

  test('and goes on as uneven as ever is never quiet', () => {
    expect(quietAfter(live(newVolume(null), uneven(3_000, 40)))).toBeNull();
  });

  test('and follows day and night, a tenth at its lowest, is never quiet', () => {
    const days = Array.from({ length: 4 * 1_440 }, (_, minute) =>
      Math.round(55 + 45 * Math.sin((minute / 1_440) * 2 * Math.PI)),
    );
    expect(quietAfter(live(newVolume(null), days))).toBeNull();
  });

  test('and brings one now and then gives no right to an alarm', () => {
    const rare = Array.from({ length: 600 }, (_, minute) => (minute % 10 === 0 ? 1 : 0));
    expect(quietAfter(live(last(live(newVolume(null), rare)), steady(60, 0)))).toBeNull();
  });
});

test('nothing is said before the stream was known for a while', () => {
  expect(quietAfter(live(newVolume(null), [500, 500, 500, ...steady(11, 0)]))).toBeNull();
});

test('what a former holder found usual counts at once', () => {
  expect(quietAfter(live(newVolume(100), steady(20, 0)))).toBe(15);
});

test('an hour of replay in one minute does not make the usual look quiet', () => {
  const usual = last(live(newVolume(null), uneven(180, 50)));
  expect(quietAfter(live(usual, [3_000 * 60, ...uneven(120, 50)]))).toBeNull();
});

test('the alarm ends when the stream is back, and when the little has become usual', () => {
  const quiet = last(live(newVolume(100), steady(20, 0)));
  expect(quiet.isQuiet).toBe(true);
  expect(last(live(quiet, steady(10, 100))).isQuiet).toBe(false);
  expect(last(live(quiet, steady(24 * 60, 0))).isQuiet).toBe(false);
});
