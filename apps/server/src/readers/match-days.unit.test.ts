import { expect, test } from 'vitest';
import { type MatchDay, nearRange } from './match-days.sql.ts';

const day = (name: string, [first, last]: [number, number], matches = last - first + 1): MatchDay => ({
  platform: 'x',
  day: name,
  first,
  last,
  matches,
});
/** Three days; the second one still has events on the third. */
const days = [day('one', [1, 100]), day('two', [101, 250], 140), day('three', [200, 300], 61)];

test.each([
  ['the newest day', { order: 'newest', limit: 50 }, { after: 199, through: 1_000 }],
  ['the day before as well', { order: 'newest', limit: 100 }, { after: 100, through: 1_000 }],
  ['the oldest day', { order: 'oldest', limit: 100 }, { after: 0, through: 100 }],
  ['the day after as well', { order: 'oldest', limit: 101 }, { after: 0, through: 250 }],
  ['everything, where that is not enough', { order: 'newest', limit: 302 }, { after: 0, through: 1_000 }],
  ['a whole day behind a cursor', { order: 'newest', limit: 50, through: 290 }, { after: 100, through: 290 }],
  ['a whole day before a cursor', { order: 'oldest', limit: 50, after: 10 }, { after: 10, through: 250 }],
] as const)('nearRange selects %s', (_, { order, limit, ...cursor }, near) => {
  expect(nearRange({ after: 0, through: 1_000, days, ...cursor }, { order, limit })).toEqual(near);
});
