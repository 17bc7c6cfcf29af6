import { expect, test } from 'vitest';
import type { Interval } from '../src/screens/coverage/intervals.ts';
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

test('a reason is told in words, a state of a source too, and one that is not known as it is', () => {
  expect(reasonWords('dropped')).toBe('The connection broke');
  expect(reasonWords('no_credit')).toBe('The prepaid credit is used up');
  expect(reasonWords('eaten_by_dogs')).toBe('eaten by dogs');
  expect(reasonWords('constructor')).toBe('constructor');
});

test('a repair tells how, how much, and what it could not bring back', () => {
  const words = repairWords({ ...gap, repair: { ...repair, matches: 2, fidelity: ['retweets_missing'] } });
  expect(words).toBe('Fetched by a search, 2 found, without reposts');
});

test('a repair that waits or is impossible tells why', () => {
  const waiting = { ...repair, state: 'waiting', reason: 'budget_exhausted' } as const;
  expect(repairWords({ ...gap, repair: waiting })).toBe(
    'Will be fetched: the daily limit for searches is reached',
  );
  const impossible = { ...repair, state: 'impossible', reason: 'no_search_for_sample' } as const;
  expect(repairWords({ ...gap, repair: impossible })).toBe(
    'Cannot be fetched: the search does not support sample',
  );
});

test('a gap that lasts is not over yet', () => {
  expect(repairWords({ ...gap, to: null })).toBe('Not over yet');
});
