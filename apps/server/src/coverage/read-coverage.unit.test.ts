import { describe, expect, test } from 'vitest';
import { createReadCoverage, type SourceIntervals, toCoverage } from './read-coverage.ts';

const at = (minute: number) => new Date(Date.UTC(2026, 8, 1, 10, minute));
const iso = (minute: number) => at(minute).toISOString();
const live = (from: number, to: number, endedBecause: string | null = null) => ({
  from: at(from),
  to: at(to),
  endedBecause,
});
const source = (changed: Partial<SourceIntervals>): SourceIntervals => ({
  platform: 'x',
  from: at(0),
  live: [],
  isLive: true,
  missing: [],
  ...changed,
});

describe('coverage', () => {
  test('of nothing says nothing', () => {
    expect(toCoverage([])).toEqual({ complete_through: null, gaps: [] });
  });

  test('without a gap goes to the last proven moment', () => {
    const intervals = [live(-5, 3, 'dropped'), live(3, 8)];
    expect(toCoverage([source({ live: intervals })])).toEqual({ complete_through: iso(8), gaps: [] });
  });

  test('shows what lies between two intervals, with the reason of the end', () => {
    expect(toCoverage([source({ live: [live(0, 3, 'stalled'), live(5, 8)] })]).gaps).toEqual([
      { platform: 'x', from: iso(3), to: iso(5), reason: 'stalled', repaired: false },
    ]);
  });

  test('shows the time before the first interval and after a crash', () => {
    const intervals = [live(2, 3), live(5, 8, 'dropped')];
    expect(toCoverage([source({ live: intervals, isLive: false })])).toEqual({
      complete_through: iso(8),
      gaps: [
        { platform: 'x', from: iso(0), to: iso(2), reason: 'not_listening_yet', repaired: false },
        { platform: 'x', from: iso(3), to: iso(5), reason: 'process_died', repaired: false },
        { platform: 'x', from: iso(8), to: null, reason: 'dropped', repaired: false },
      ],
    });
  });

  test('shows when the upstream did not have the rule; no replay repairs that', () => {
    const missing = [
      { from: at(1), to: at(2) },
      { from: at(4), to: null },
    ];
    expect(toCoverage([source({ platform: 'firehose', live: [live(0, 8)], missing })])).toEqual({
      complete_through: iso(4),
      gaps: [
        { platform: 'firehose', from: iso(1), to: iso(2), reason: 'rule_missing', repaired: false },
        { platform: 'firehose', from: iso(4), to: null, reason: 'rule_missing', repaired: false },
      ],
    });
  });

  test('of a source that never listened is one open gap', () => {
    expect(toCoverage([source({ isLive: false })])).toEqual({
      complete_through: iso(0),
      gaps: [{ platform: 'x', from: iso(0), to: null, reason: 'not_listening_yet', repaired: false }],
    });
  });

  test('of firehose is repaired by the replay, unless the gap is open or longer than the replay', () => {
    const firehose = (to: number, isLive = true) =>
      toCoverage([
        source({ platform: 'firehose', live: [live(0, 1, 'dropped'), live(to, to + 1, 'dropped')], isLive }),
      ]).gaps.map(({ repaired }) => repaired);
    expect(firehose(10)).toEqual([true]);
    expect(firehose(24 * 60)).toEqual([false]);
    expect(firehose(10, false)).toEqual([true, false]);
  });

  test('of several sources goes as far as the one that is behind', () => {
    const sources = [source({ live: [live(0, 9)] }), source({ platform: 'firehose', live: [live(0, 4)] })];
    expect(toCoverage(sources).complete_through).toBe(iso(4));
  });

  test('with more gaps than fit keeps the latest, and every one that is open', () => {
    const many = Array.from({ length: 150 }, (_, n) => live(n * 2, n * 2 + 1, 'dropped'));
    const { gaps } = toCoverage([source({ isLive: false }), source({ platform: 'firehose', live: many })]);
    expect(gaps).toHaveLength(100);
    expect(gaps.at(-1)).toMatchObject({ platform: 'x', to: null });
    expect(gaps[0]).toMatchObject({ from: iso(2 * 50 + 1) });
  });

  test('is asked of the store for what the caller may see', async () => {
    const asked: unknown[] = [];
    const read = createReadCoverage({
      intervals: async (what) => {
        asked.push(what);
        return [];
      },
    });
    await read({ accountId: 'acc_1', ruleId: 'rule_1', platform: null });
    expect(asked).toEqual([{ accountId: 'acc_1', ruleId: 'rule_1', platform: null }]);
  });
});
