import { expect, test } from 'vitest';
import { planSample } from './plan-sample.ts';

const everything = { after: 0, through: Number.MAX_SAFE_INTEGER };
const day = (name: string, first: number, last: number, matches: number) =>
  ({ platform: 'x', day: name, first, last, matches }) as const;

test('a small number of matches is covered completely, each position once', () => {
  const days = [day('2026-11-14', 1, 1_000, 300), day('2026-11-15', 900, 2_000, 700)];
  const { ranges, fraction } = planSample({ ...everything, days }, { rowsMax: 1_000, random: Math.random });
  expect(fraction).toBe(1);
  for (const { day: name, first, last } of days) {
    const own = ranges.filter((range) => range.day === name).toSorted((a, b) => a.low - b.low);
    expect(own[0]?.low).toBe(first);
    expect(own.at(-1)?.high).toBe(last + 1);
    for (const [index, { low }] of own.slice(1).entries()) expect(low).toBe(own[index]?.high);
  }
});

test('with many matches, every position is equally likely', () => {
  const days = [day('2026-11-14', 1, 1_000, 1_000), day('2026-11-15', 1_001, 1_100, 100)];
  const times = 4_000;
  const items = new Map<number, number>();
  for (let n = 0; n < times; n++) {
    const { ranges, fraction } = planSample({ ...everything, days }, { rowsMax: 220, random: Math.random });
    expect(fraction).toBeCloseTo(0.2);
    for (const { low, high } of ranges)
      for (let at = low; at < high; at++) items.set(at, (items.get(at) ?? 0) + 1);
  }
  const ofDay = (first: number, last: number) => {
    let sum = 0;
    for (let at = first; at <= last; at++) sum += items.get(at) ?? 0;
    return sum / (last - first + 1) / times;
  };
  expect(ofDay(1, 1_000)).toBeCloseTo(0.2, 2);
  expect(ofDay(1_001, 1_100)).toBeCloseTo(0.2, 2);
  expect(Math.max(...items.keys())).toBeLessThanOrEqual(1_100);
});

test('only positions in the range count, and of a day that is cut only a part', () => {
  const days = [day('2026-11-14', 1, 1_000, 1_000), day('2026-11-13', 1, 400, 400)];
  const plan = planSample({ days, after: 500, through: 900 }, { rowsMax: 400, random: Math.random });
  expect(plan.fraction).toBe(1);
  expect(new Set(plan.ranges.map((range) => range.day))).toEqual(new Set(['2026-11-14']));
  expect(Math.min(...plan.ranges.map(({ low }) => low))).toBe(501);
  expect(Math.max(...plan.ranges.map(({ high }) => high))).toBe(901);
});
