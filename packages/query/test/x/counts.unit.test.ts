import { expect, test } from 'vitest';
import { countsQuery } from '../../src/x/counts.ts';

test.each([
  ['aurora -is:retweet -is:quote', 'aurora -is:quote -is:retweet'],
  ['aurora (oslo OR bergen) lang:en', 'aurora (bergen OR oslo) lang:en'],
])('%s is counted as it is', (value, query) => {
  expect(countsQuery(value)).toMatchObject({ countable: true, query, share: 1, dropped: [] });
});

test.each([
  // Left out where that widens: as a part of an `and`, wanted or not.
  ['aurora bio:pilot', 'aurora', ['bio']],
  ['aurora -bio:pilot', 'aurora', ['bio']],
  ['aurora (bio:pilot OR oslo)', 'aurora', ['bio']],
  ['"northern lights"~3 oslo', 'oslo', ['proximity']],
  ['(aurora bio:pilot) OR (oslo url_title:sky)', 'aurora OR oslo', ['bio', 'url_title']],
])('%s is counted as %s, which matches more', (value, query, dropped) => {
  expect(countsQuery(value)).toMatchObject({ countable: true, query, dropped });
});

test('a sample is scaled', () => {
  expect(countsQuery('aurora sample:10')).toMatchObject({ query: 'aurora', share: 0.1, dropped: [] });
});

test.each([
  ['bio:pilot', 'counts do not know bio'],
  ['aurora OR bio:pilot', 'counts do not know bio'],
  ['bio:pilot lang:en', 'nothing is left without bio'],
  ['aurora is:retweet', 'counts of words leave out reposts'],
])('%s is not countable: %s', (value, why) => {
  expect(countsQuery(value)).toEqual({ countable: false, why });
});

test.each([
  ['aurora', true, true],
  ['aurora -is:retweet', false, true],
  ['aurora -is:quote', true, false],
  ['aurora -is:retweet -is:quote', false, false],
  // In one branch only, it excludes nothing from the other.
  ['(aurora -is:retweet) OR oslo', true, true],
  // Only words are looked for in fewer posts.
  ['from:nasa', false, false],
])('%s: counts miss reposts %s, quotes %s', (value, missesReposts, missesQuotes) => {
  expect(countsQuery(value)).toMatchObject({ missesReposts, missesQuotes });
});
