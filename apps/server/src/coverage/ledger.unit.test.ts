import { describe, expect, test } from 'vitest';
import { coverageOf, type Interval, type Ledger, type SlotRepair, type WatchedPeriod } from './ledger.ts';
import { toCoverage } from './read-coverage.ts';

const at = (minute: number) => new Date(Date.UTC(2026, 8, 1, 10, minute));
const iso = (minute: number) => at(minute).toISOString();

let lastId = 0;
const live = (
  from: number,
  to: number,
  endedBecause: string | null = null,
  more: Partial<Interval> = {},
): Interval => ({
  id: ++lastId,
  from: at(from),
  to: at(to),
  endedBecause,
  repair: null,
  repairVia: null,
  repairBecause: null,
  ...more,
});
const watch = (from: number, to: number | null = null, more: Partial<WatchedPeriod> = {}): WatchedPeriod => ({
  platform: 'x',
  sourceId: 'x:main',
  slotId: 'slot_1',
  from: at(from),
  appliedFrom: at(from),
  to: to === null ? null : at(to),
  ...more,
});

/** A rule on X that is watched from minute 0; the time is minute 10. */
const ledger = (intervals: readonly Interval[], more: Partial<Ledger> = {}): Ledger => ({
  now: at(10),
  matchedThrough: at(10),
  from: at(-60),
  to: at(10),
  platforms: ['x'],
  needsAll: false,
  watched: [watch(0)],
  intervals: new Map([['x:main', intervals]]),
  missing: [],
  repairs: [],
  ...more,
});
const coverage = (...given: Parameters<typeof ledger>) => toCoverage(coverageOf(ledger(...given)));
/** As `state from–to`, in minutes. */
const spans = (...given: Parameters<typeof ledger>) =>
  coverageOf(ledger(...given)).flatMap(({ timeline }) =>
    timeline.map(({ state, from, to }) => {
      const minute = (time: number) => (Number.isFinite(time) ? (time - at(0).getTime()) / 60_000 : '');
      return `${state} ${minute(from)}–${minute(to)}`;
    }),
  );

describe('coverage', () => {
  test('is empty for an empty ledger', () => {
    expect(coverage([], { watched: [] })).toEqual({ complete_through: null, gaps: [] });
  });

  test('reaches the last proof, even if it is some seconds old', () => {
    const now = new Date(at(8).getTime() + 5_000);
    expect(coverage([live(-5, 3, 'dropped'), live(3, 8)], { now, to: now })).toEqual({
      complete_through: iso(8),
      gaps: [],
    });
  });

  test('is complete only up to the last matched event', () => {
    expect(coverage([live(0, 10)], { matchedThrough: at(7) })).toEqual({
      complete_through: iso(7),
      gaps: [],
    });
  });

  test('shows a gap between two intervals with the reason of the disconnect', () => {
    expect(coverage([live(0, 3, 'stalled'), live(5, 10)]).gaps).toEqual([
      { platform: 'x', from: iso(3), to: iso(5), reason: 'stalled', repaired: false },
    ]);
  });

  test('shows gaps before the first interval and after a crash', () => {
    expect(coverage([live(2, 3, 'process_died'), live(5, 8, 'dropped')])).toEqual({
      complete_through: iso(8),
      gaps: [
        { platform: 'x', from: iso(0), to: iso(2), reason: 'not_listening_yet', repaired: false },
        { platform: 'x', from: iso(3), to: iso(5), reason: 'process_died', repaired: false },
        { platform: 'x', from: iso(8), to: null, reason: 'dropped', repaired: false },
      ],
    });
  });

  test('ends an interval without new proofs at its last proof', () => {
    expect(coverage([live(0, 8)])).toEqual({
      complete_through: iso(8),
      gaps: [{ platform: 'x', from: iso(8), to: null, reason: 'process_died', repaired: false }],
    });
  });

  test('is one open gap if the source never connected', () => {
    expect(coverage([])).toEqual({
      complete_through: iso(0),
      gaps: [{ platform: 'x', from: iso(0), to: null, reason: 'not_listening_yet', repaired: false }],
    });
  });

  test('shows a gap while the platform did not have the rule, even after a repair', () => {
    const missing = [
      { slotId: 'slot_1', from: at(1), to: at(2) },
      { slotId: 'slot_2', from: at(5), to: at(6) },
      { slotId: 'slot_1', from: at(4), to: null },
    ];
    expect(coverage([live(0, 10)], { missing })).toEqual({
      complete_through: iso(4),
      gaps: [
        { platform: 'x', from: iso(1), to: iso(2), reason: 'rule_missing', repaired: false },
        { platform: 'x', from: iso(4), to: null, reason: 'rule_missing', repaired: false },
      ],
    });
  });

  test('keeps the latest gaps and every open gap if there are too many', () => {
    const many = Array.from({ length: 150 }, (_, n) => live(n * 2 - 400, n * 2 - 399, 'dropped'));
    const { gaps } = coverage(many, { from: at(-500), watched: [watch(-450)] });
    expect(gaps).toHaveLength(100);
    expect(gaps.at(-1)).toMatchObject({ to: null });
    expect(gaps[0]).toMatchObject({ from: iso(-400 + 2 * 50 + 1) });
  });
});

describe('a timeline', () => {
  test('shows not_watched before the first registration and during a pause', () => {
    const watched = [watch(0, 3), watch(6)];
    expect(spans([live(-5, 10)], { from: at(-2), watched })).toEqual([
      'not_watched -2–0',
      'live 0–3',
      'not_watched 3–6',
      'live 6–10',
    ]);
    expect(spans([live(-5, 10)], { watched: [watch(0, 3)] }).at(-1)).toBe('not_watched 3–10');
  });

  test('does not show the time since the last proof as not_watched', () => {
    const now = new Date(at(8).getTime() + 5_000);
    expect(spans([live(0, 8)], { now, to: now, from: at(0) })).toEqual(['live 0–8']);
  });

  test('is covered while one of two sources received a moved rule', () => {
    const watched = [watch(0, 5), watch(4, null, { sourceId: 'x:second' })];
    const intervals = new Map([
      ['x:main', [live(0, 10)]],
      ['x:second', [live(4, 6, 'dropped'), live(7, 10)]],
    ]);
    expect(spans([], { from: at(0), watched, intervals })).toEqual(['live 0–6', 'gap 6–7', 'live 7–10']);
  });

  test('has a gap for the platform if one source has a gap', () => {
    const watched = [
      watch(0, null, { slotId: null }),
      watch(0, null, { slotId: null, sourceId: 'x:second' }),
    ];
    const intervals = new Map([
      ['x:main', [live(0, 10)]],
      ['x:second', [live(0, 6, 'dropped'), live(7, 10)]],
    ]);
    expect(spans([], { from: at(0), watched, intervals, needsAll: true })).toEqual([
      'live 0–6',
      'gap 6–7',
      'live 7–10',
    ]);
  });

  test('shows starting, with its end, until the platform applies the rule', () => {
    const starting = watch(5, null, { appliedFrom: at(12) });
    expect(spans([live(0, 10)], { from: at(0), watched: [starting] })).toEqual([
      'not_watched 0–5',
      'starting 5–12',
    ]);
    expect(coverage([live(0, 10)], { watched: [starting] })).toEqual({ complete_through: null, gaps: [] });
    const applied = watch(5, null, { appliedFrom: at(7) });
    expect(spans([live(0, 10)], { from: at(5), watched: [applied] })).toEqual(['starting 5–7', 'live 7–10']);
    const left = watch(5, 6, { appliedFrom: at(7) });
    expect(spans([live(0, 10)], { from: at(5), watched: [left] })).toEqual([
      'starting 5–6',
      'not_watched 6–10',
    ]);
  });

  test('has no starting span while the old query is live until the new one is', () => {
    const watched = [watch(0, 8), watch(5, null, { slotId: 'slot_2', appliedFrom: at(7) })];
    expect(spans([live(0, 10)], { from: at(0), watched })).toEqual(['live 0–10']);
  });

  test('shows planned, replayed ends as live unless planned ends are requested', () => {
    const replayed = { repair: 'repaired', repairVia: 'replay' } as const;
    const intervals = [live(0, 3, 'finished'), live(4, 6, 'dropped', replayed), live(7, 10, null, replayed)];
    expect(spans(intervals, { from: at(0) })).toEqual(['live 0–6', 'repaired 6–7', 'live 7–10']);
    const all = coverageOf(ledger(intervals, { from: at(0) }), { plannedEnds: true });
    expect(all[0]?.timeline.map(({ state }) => state)).toEqual([
      'live',
      'repaired',
      'live',
      'repaired',
      'live',
    ]);
    const lost = [live(0, 3, 'finished'), live(4, 10)];
    expect(spans(lost, { from: at(0) })).toEqual(['live 0–3', 'gap 3–4', 'live 4–10']);
  });

  test('ends with the window, but an open gap has no end', () => {
    expect(spans([live(0, 10)], { from: at(2), to: at(4) })).toEqual(['live 2–4']);
    expect(spans([live(0, 3, 'dropped')], { from: at(2), to: at(4) })).toEqual(['live 2–3', 'gap 3–']);
  });
});

describe('a gap', () => {
  const repair = (intervalId: number, more: Partial<SlotRepair>): SlotRepair => ({
    intervalId,
    slotId: 'slot_1',
    state: 'repaired',
    via: 'search',
    because: null,
    fidelity: ['retweets_missing'],
    matches: 3,
    ...more,
  });
  const repaired = (interval: Interval, repairs: readonly SlotRepair[] = []) =>
    coverageOf(ledger([live(0, 3, 'dropped'), interval], { from: at(0), repairs }))[0]?.timeline[1];

  test('is repaired if the slot of the rule was repaired', () => {
    const interval = live(5, 10, null, { repair: 'partly' });
    expect(repaired(interval, [repair(interval.id, {})])).toMatchObject({
      state: 'repaired',
      repair: { via: 'search', fidelity: ['retweets_missing'], matches: 3 },
    });
    const other = live(5, 10, null, { repair: 'partly' });
    expect(repaired(other, [repair(other.id, { slotId: 'slot_2' })])).toMatchObject({ state: 'gap' });
  });

  test('hides the number of matches if the rule began during the gap', () => {
    const interval = live(5, 10, null, { repair: 'partly' });
    const [covered] = coverageOf(
      ledger([live(0, 3, 'dropped'), interval], {
        from: at(0),
        watched: [watch(4)],
        repairs: [repair(interval.id, {})],
      }),
    );
    expect(covered?.timeline.find(({ state }) => state === 'repaired')).toMatchObject({
      from: at(4).getTime(),
      repair: { state: 'repaired', matches: null },
    });
  });

  test('stays a gap with a reason while its repair waits or is impossible', () => {
    for (const state of ['waiting', 'impossible'] as const) {
      const interval = live(5, 10, null, { repair: 'under_way' });
      expect(repaired(interval, [repair(interval.id, { state, because: 'budget_exhausted' })])).toMatchObject(
        {
          state: 'gap',
          repair: { state, because: 'budget_exhausted' },
        },
      );
    }
  });

  test.each([
    ['repaired', 'repaired', 'repaired'],
    ['none', 'gap', 'impossible'],
    ['partly', 'gap', 'impossible'],
    ['under_way', 'gap', 'waiting'],
  ] as const)('with the source repair %s has the state %s', (whole, state, shown) => {
    expect(repaired(live(5, 10, null, { repair: whole, repairVia: 'replay' }))).toMatchObject({
      state,
      repair: { state: shown, via: 'replay' },
    });
  });

  test('without a planned repair has no repair', () => {
    expect(repaired(live(5, 10))).toMatchObject({ state: 'gap', repair: null });
  });
});
