import { expect, test } from 'vitest';
import type { Interval } from '../src/screens/coverage/intervals.ts';
import { summarise } from '../src/screens/coverage/intervals.ts';
import { laneWords } from '../src/screens/coverage/lane-words.ts';
import { reasonWords, repairWords } from '../src/screens/coverage/words.ts';

const gap: Interval = {
  platform: 'x',
  state: 'gap',
  from: '2026-11-14T00:00:00.000Z',
  to: '2026-11-14T00:01:00.000Z',
  reason: 'dropped',
  repair: null,
};
const repair: NonNullable<Interval['repair']> = {
  state: 'repaired',
  via: 'search',
  reason: null,
  fidelity: [],
  matches: null,
};

test('describes reasons and source states in words, and shows unknown reasons as they are', () => {
  expect(reasonWords('dropped')).toBe('The connection broke');
  expect(reasonWords('no_credit')).toBe('The prepaid credit is used up');
  expect(reasonWords('eaten_by_dogs')).toBe('eaten by dogs');
  expect(reasonWords('constructor')).toBe('constructor');
});

test('describes how a gap was repaired, how many matches were found and what is missing', () => {
  const words = repairWords({ ...gap, repair: { ...repair, matches: 2, fidelity: ['retweets_missing'] } });
  expect(words).toBe('Repaired by a search, 2 found, without reposts');
});

test('describes why a repair is pending or impossible', () => {
  const waiting = { ...repair, state: 'waiting', reason: 'budget_exhausted' } as const;
  expect(repairWords({ ...gap, repair: waiting })).toBe(
    'Repair pending: the daily limit for searches is reached',
  );
  const impossible = { ...repair, state: 'impossible', reason: 'no_search_for_sample' } as const;
  expect(repairWords({ ...gap, repair: impossible })).toBe(
    'Cannot be repaired: the search does not support sample',
  );
});

test('describes an ongoing gap', () => {
  expect(repairWords({ ...gap, to: null })).toBe('Ongoing');
});

test('a timeline that ends in a pause is not described as disconnected', () => {
  const window = { from: Date.parse(gap.from), to: Date.parse(gap.from) + 3_600_000 };
  const end = (state: Interval['state']) => {
    const intervals: Interval[] = [
      { ...gap, state: 'live' },
      { ...gap, state, from: gap.to ?? '', to: new Date(window.to).toISOString() },
    ];
    return laneWords(intervals, summarise(intervals, window), new Date(window.to));
  };
  expect(end('not_watched')).toBe('Not active at the end of this period');
  expect(end('gap')).toContain('Disconnected at the end of this period');
});
