import { describe, expect, test } from 'vitest';
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
  expect(repairWords({ ...gap, repair })).toBe('Repaired by a search, not every post can be found');
  expect(repairWords({ ...gap, repair: { ...repair, via: 'replay' } })).toBe('Repaired by a replay');
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

describe('the words of a timeline', () => {
  const from = Date.parse(gap.from);
  const at = (minutes: number) => new Date(from + minutes * 60_000).toISOString();
  /** The states in turn, for 10 minutes each. */
  const words = (...states: Interval['state'][]) => {
    const intervals = states.map((state, index): Interval => {
      const isOpen = state === 'gap' && index === states.length - 1;
      return { ...gap, state, from: at(index * 10), to: isOpen ? null : at(index * 10 + 10) };
    });
    const now = new Date(at(states.length * 10));
    return laneWords(intervals, summarise(intervals, { from, to: now.getTime() }), now);
  };

  test('a timeline that ends in a pause is not described as disconnected', () => {
    expect(words('live', 'not_watched')).toBe('Not active at the end of this period');
    const ended = [{ ...gap, to: at(1) }];
    const now = new Date(at(10));
    expect(laneWords(ended, summarise(ended, { from, to: now.getTime() }), now)).toContain(
      'Disconnected at the end of this period',
    );
  });

  test('a rule that starts, for the first time or again, is not described as disconnected', () => {
    const starting = 'Starting: the platform may not apply the rule yet';
    expect(words('starting')).toBe(starting);
    expect(words('live', 'not_watched', 'starting')).toBe(starting);
    expect(words('live', 'gap', 'live', 'starting')).toBe(`${starting}; 1 gap, 10 min missing`);
  });

  test('a gap that a search has repaired does not make the timeline complete', () => {
    const repaired = (via: 'search' | 'replay') => {
      const ended: Interval = { ...gap, state: 'repaired', to: at(10), repair: { ...repair, via } };
      const all = [ended, { ...gap, state: 'live' as const, from: at(10), to: at(20) }];
      return laneWords(all, summarise(all, { from, to: from + 1_200_000 }), new Date(at(20)));
    };
    expect(repaired('replay')).toBe('Covered; 1 gap repaired');
    expect(repaired('search')).toBe('Covered; 1 gap repaired as far as a search finds posts');
  });

  test('an outage that began before the rule does not begin with it', () => {
    expect(words('starting', 'gap')).toBe('Disconnected since the rule started: the connection broke');
    expect(words('live', 'gap')).toMatch(/^Disconnected since \D*\d.*: the connection broke$/);
  });
});
