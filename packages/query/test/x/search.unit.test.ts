import { expect, test } from 'vitest';
import { searchability } from '../../src/index.ts';
import { xDialect } from '../../src/x/tables.ts';

test('a query of words, tags and accounts can be searched for', () => {
  expect(searchability('(glacier OR "blue ice") lang:en -is:retweet')).toEqual({
    searchable: true,
    hasWords: true,
  });
  expect(searchability('from:acme_sky OR #fjordlight')).toEqual({ searchable: true, hasWords: false });
});

test('a query with more than 512 characters cannot be searched for', () => {
  expect(searchability('a'.repeat(512))).toMatchObject({ searchable: true });
  expect(searchability('a'.repeat(513))).toEqual({ searchable: false, why: 'too_long', operator: null });
});

test.each([
  ['"blue ice"~3', 'keyword'],
  ['glacier sample:10', 'sample'],
  ['glacier -bio:baker', 'bio'],
  ['glacier (lang:en OR url_title:"ice age")', 'url_title'],
  ['glacier followers_count:100', 'followers_count'],
])('%s cannot be searched for: search lacks the operator', (value, operator) => {
  expect(searchability(value)).toEqual({ searchable: false, why: 'operator_not_searchable', operator });
});

test('every operator is listed as searchable or not', () => {
  const lacking = xDialect.operators
    .map(({ name, example }) => [name, searchability(example)] as const)
    .filter(([, verdict]) => !verdict.searchable)
    .map(([name]) => name);
  expect(lacking.toSorted()).toEqual(
    (
      'bio bio_location bio_name embedding embedding_threshold followers_count following_count from_affiliate_of ' +
      'keyword listed_count min_followers sample source to_affiliate_of tweets_count url_contains url_description url_title'
    ).split(' '),
  );
});
