import { describe, expect, test } from 'vitest';
import { afterMinute, newVolume, type Volume } from './volume.ts';

/** Feeds minutes one after the other; returns the state after each. */
function live(volume: Volume, minutes: readonly number[]): Volume[] {
  let now = volume;
  return minutes.map((events) => {
    now = afterMinute(now, events);
    return now;
  });
}
const steady = (minutes: number, events: number) => Array.from({ length: minutes }, () => events);
const last = (volumes: readonly Volume[]) => volumes.at(-1) ?? newVolume(null);
/** The number of minutes after which the stream was reported as quiet; null if never. */
const quietAfter = (volumes: readonly Volume[]) => {
  const index = volumes.findIndex(({ isQuiet }) => isQuiet);
  return index < 0 ? null : index + 1;
};
/** Uneven like real streams, but the same on every run. */
const uneven = (minutes: number, mean: number) =>
  Array.from({ length: minutes }, (_, minute) =>
    Math.max(0, Math.round(mean * (1 + 0.6 * Math.sin(minute * 2.4)))),
  );

describe('a stream that stays up', () => {
  test.each([2, 10, 300, 100_000])(
    'is quiet within 20 minutes if it delivers nothing instead of %i per minute',
    (rate) => {
      const usual = last(live(newVolume(null), uneven(180, rate)));
      const after = quietAfter(live(usual, steady(20, 0)));
      expect(after).not.toBeNull();
      expect(after).toBeGreaterThan(5);
    },
  );

  test('is quiet if it delivers only a trickle', () => {
    const usual = last(live(newVolume(null), uneven(180, 300)));
    expect(quietAfter(live(usual, steady(20, 3)))).toBeLessThanOrEqual(20);
  });

  test('is never quiet if it stays as uneven as before', () => {
    expect(quietAfter(live(newVolume(null), uneven(3_000, 40)))).toBeNull();
  });

  test('is never quiet if it follows day and night, down to a tenth', () => {
    const days = Array.from({ length: 4 * 1_440 }, (_, minute) =>
      Math.round(55 + 45 * Math.sin((minute / 1_440) * 2 * Math.PI)),
    );
    expect(quietAfter(live(newVolume(null), days))).toBeNull();
  });

  test('is never quiet if it delivers few items anyway', () => {
    const rare = Array.from({ length: 600 }, (_, minute) => (minute % 10 === 0 ? 1 : 0));
    expect(quietAfter(live(last(live(newVolume(null), rare)), steady(60, 0)))).toBeNull();
  });
});

test('no stream is reported before it was measured for a while', () => {
  expect(quietAfter(live(newVolume(null), [500, 500, 500, ...steady(11, 0)]))).toBeNull();
});

test('the average of an earlier holder counts at once', () => {
  expect(quietAfter(live(newVolume(100), steady(20, 0)))).toBe(15);
});

test('an hour of replay in one minute does not make the usual volume quiet', () => {
  const usual = last(live(newVolume(null), uneven(180, 50)));
  expect(quietAfter(live(usual, [3_000 * 60, ...uneven(120, 50)]))).toBeNull();
});

test('the report ends when the stream recovers or the low volume has become usual', () => {
  const quiet = last(live(newVolume(100), steady(20, 0)));
  expect(quiet.isQuiet).toBe(true);
  expect(last(live(quiet, steady(10, 100))).isQuiet).toBe(false);
  expect(last(live(quiet, steady(24 * 60, 0))).isQuiet).toBe(false);
});
