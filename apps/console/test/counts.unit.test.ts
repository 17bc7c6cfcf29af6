import fc from 'fast-check';
import { expect, test } from 'vitest';
import { axisSpacePx, axisSteps, divide, divisionWords } from '../src/screens/feed/counts.ts';

const now = new Date('2026-11-16T12:07:00.000Z');

test('divides the last day into quarter hours without a range', () => {
  expect(divide({}, now)).toEqual({
    from: '2026-11-15T12:00:00.000Z',
    to: '2026-11-16T12:15:00.000Z',
    stepSeconds: 900,
  });
});

test('does not say that matches were counted up to a time in the future', () => {
  expect(divisionWords(divide({}, now), now)).toMatch(/^since /);
  const past = { from: '2026-11-16T10:00:00.000Z', to: '2026-11-16T11:00:00.000Z' };
  expect(divisionWords(divide(past, now), now)).toMatch(/^from .* to /);
});

test('extends the range to whole steps, at most as many as the API counts', () => {
  const times = fc.tuple(fc.integer({ min: 0, max: 1e10 }), fc.integer({ min: 1, max: 3e11 }));
  fc.assert(
    fc.property(times, ([startMs, spanMs]) => {
      const begin = Date.UTC(2026, 0, 1) + startMs;
      const range = { from: new Date(begin).toISOString(), to: new Date(begin + spanMs).toISOString() };
      const { from, to, stepSeconds } = divide(range, now);
      const steps = (Date.parse(to) - Date.parse(from)) / 1_000 / stepSeconds;
      expect(Date.parse(from)).toBeLessThanOrEqual(begin);
      expect(Date.parse(to)).toBeGreaterThanOrEqual(begin + spanMs);
      expect(Number.isInteger(steps)).toBe(true);
      expect(steps).toBeGreaterThan(0);
      expect(steps).toBeLessThanOrEqual(122);
    }),
  );
});

test('the vertical axis has a label above 0, whatever the highest bar', () => {
  // The height of the chart without its padding and horizontal axis.
  const heightPx = 64;
  const highest = [...Array.from({ length: 500 }, (_, index) => index + 4), 999, 4_999, 48_000, 99_999];
  const unlabelled = highest.filter(
    (max) => !axisSteps.some((step) => step <= max && (step / max) * heightPx >= axisSpacePx),
  );
  expect(unlabelled).toEqual([]);
});
