import { expect, test } from 'vitest';
import { type Interval, segmentsOf, summarise } from '../src/screens/coverage/intervals.ts';

const start = Date.parse('2026-11-14T00:00:00.000Z');
const hour = 3_600_000;
const at = (hours: number) => new Date(start + hours * hour).toISOString();
const window = { from: start, to: start + 10 * hour };

function interval(state: Interval['state'], from: number, to: number | null): Interval {
  return {
    platform: 'x',
    state,
    from: at(from),
    to: to === null ? null : at(to),
    reason: null,
    repair: null,
  };
}

test('a strip shows each interval at its place in the window', () => {
  const segments = segmentsOf([interval('live', 0, 5), interval('gap', 5, 10)], window);
  expect(segments.map(({ start: from, width }) => [from, width])).toEqual([
    [0, 0.5],
    [0.5, 0.5],
  ]);
});

test('a gap that lasts reaches the end of the window', () => {
  expect(segmentsOf([interval('gap', 9, null)], window)).toMatchObject([{ start: 0.9, width: 0.1 }]);
});

test('a gap of a second stays wide enough to be seen, inside the strip, and is painted over what was heard', () => {
  const second = 1 / 3_600;
  const segments = segmentsOf([interval('gap', 10 - second, 10), interval('live', 0, 10 - second)], window);
  expect(segments.map(({ interval: { state } }) => state)).toEqual(['live', 'gap']);
  expect(segments[1]).toMatchObject({ start: 0.995, width: 0.005 });
});

test('what lies outside of the window is left out, and what begins before it is cut', () => {
  const segments = segmentsOf([interval('live', -5, -1), interval('live', -1, 5)], window);
  expect(segments).toMatchObject([{ start: 0, width: 0.5 }]);
});

test('what was fetched since counts as heard, and what nobody asked for does not count', () => {
  const intervals = [
    interval('not_watched', 0, 2),
    interval('repaired', 2, 4),
    interval('gap', 4, 6),
    interval('live', 6, 10),
  ];
  expect(summarise(intervals, window)).toMatchObject({
    covered: 0.75,
    missingMs: 2 * hour,
    gaps: 1,
    repaired: 1,
    heardSince: start + 6 * hour,
    heardThroughout: false,
    open: null,
  });
});

test('without a gap it is heard since the beginning of the window', () => {
  const summary = summarise(
    [interval('live', -3, 4), interval('repaired', 4, 5), interval('live', 5, 10)],
    window,
  );
  expect(summary).toMatchObject({ covered: 1, heardSince: start, heardThroughout: true });
});

test('a gap that lasts is told, and nothing is heard since', () => {
  const summary = summarise([interval('live', 0, 9), interval('gap', 9, null)], window);
  expect(summary).toMatchObject({ heardSince: null, open: { from: at(9) }, missingMs: hour });
});

test('of what was never to be heard no share is told', () => {
  expect(summarise([interval('not_watched', 0, 10)], window)).toMatchObject({
    covered: null,
    heardSince: null,
  });
  expect(summarise([], window)).toMatchObject({ covered: null, heardSince: null, repaired: 0 });
});
