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

test('a segment has the position of its interval in the window', () => {
  const segments = segmentsOf([interval('live', 0, 5), interval('gap', 5, 10)], window);
  expect(segments.map(({ start: from, width }) => [from, width])).toEqual([
    [0, 0.5],
    [0.5, 0.5],
  ]);
});

test('an ongoing gap reaches the end of the window', () => {
  expect(segmentsOf([interval('gap', 9, null)], window)).toMatchObject([{ start: 0.9, width: 0.1 }]);
});

test('a gap of 1 s is wide enough to be seen, inside the strip, and painted over covered time', () => {
  const second = 1 / 3_600;
  const segments = segmentsOf([interval('gap', 10 - second, 10), interval('live', 0, 10 - second)], window);
  expect(segments.map(({ interval: { state } }) => state)).toEqual(['live', 'gap']);
  expect(segments[1]).toMatchObject({ start: 0.995, width: 0.005 });
});

test('drops intervals outside the window and cuts those that begin before it', () => {
  const segments = segmentsOf([interval('live', -5, -1), interval('live', -1, 5)], window);
  expect(segments).toMatchObject([{ start: 0, width: 0.5 }]);
});

test('repaired gaps count as covered, and inactive periods are ignored', () => {
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
    coveredSince: start + 6 * hour,
    coveredThroughout: false,
    open: null,
  });
});

test('is covered since the start of the window if there is no gap', () => {
  const summary = summarise(
    [interval('live', -3, 4), interval('repaired', 4, 5), interval('live', 5, 10)],
    window,
  );
  expect(summary).toMatchObject({ covered: 1, coveredSince: start, coveredThroughout: true });
});

test('reports an ongoing gap, and no coverage since', () => {
  const summary = summarise([interval('live', 0, 9), interval('gap', 9, null)], window);
  expect(summary).toMatchObject({ coveredSince: null, open: { from: at(9) }, missingMs: hour });
});

test('reports no covered fraction if no rule was active', () => {
  expect(summarise([interval('not_watched', 0, 10)], window)).toMatchObject({
    covered: null,
    coveredSince: null,
  });
  expect(summarise([], window)).toMatchObject({ covered: null, coveredSince: null, repaired: 0 });
});
