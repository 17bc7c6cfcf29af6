import type { Match } from '@earshot/sdk';
import { expect, test } from 'vitest';
import { exampleOf, examplesWith, hasExample } from '../src/screens/feed/examples.ts';
import { isMutedBy, mutableAuthor, mutableSite } from '../src/screens/feed/mutes.ts';
import { hiddenWords, isHiddenBy, sourceWords } from '../src/screens/feed/relevance-words.ts';

const page = {
  rule_id: 'rule_1',
  platform: 'firehose',
  payload: { author: null, url: 'https://www.news.example.com/a?b' },
} as const;
const post = {
  rule_id: 'rule_1',
  platform: 'x',
  payload: { author: { id: '7', name: 'Ferris', handle: 'Ferris' }, url: 'https://x.com/ferris/status/1' },
} as const;
/** What an example does not need of a match. */
const rest = {
  id: 'mat_1',
  rule_version: 1,
  created_at: '2026-11-16T09:00:00.000Z',
  platform_post_id: '1',
  via: 'stream',
  why: { verdict: 'match', confidence: 'exact', evidence: [], undecided: [] },
} as const;
const mute = { id: 'mut_1', rule_id: 'rule_1', author: null, domain: null };

test('a mute hides its author by handle or id, its site with subdomains, and only in its rule', () => {
  const hides = (differs: Partial<Parameters<typeof isMutedBy>[0]>, match: typeof page | typeof post) =>
    isMutedBy({ ...mute, ...differs }, match);
  expect(hides({ author: 'ferris' }, post)).toBe(true);
  expect(hides({ author: '7' }, post)).toBe(true);
  expect(hides({ author: 'ferri' }, post)).toBe(false);
  expect(hides({ author: 'ferris' }, page)).toBe(false);
  expect(hides({ author: 'ferris', rule_id: 'rule_2' }, post)).toBe(false);
  expect(hides({ author: 'ferris', rule_id: null }, post)).toBe(true);
  expect(hides({ domain: 'news.example.com' }, page)).toBe(true);
  expect(hides({ domain: 'example.com' }, page)).toBe(true);
  expect(hides({ domain: 's.example.com' }, page)).toBe(false);
});

test('offers to mute the author of a post and the site of a page', () => {
  expect([mutableAuthor(post), mutableSite(post)]).toEqual(['Ferris', null]);
  expect([mutableAuthor(page), mutableSite(page)]).toEqual([null, 'news.example.com']);
});

test('says how many matches are hidden, and why', () => {
  expect(hiddenWords({ muted: 1_030, not_relevant: 7 })).toBe('1,037 hidden: 1,030 muted, 7 not relevant.');
  expect(hiddenWords({ muted: 0, not_relevant: 7 })).toBe('7 hidden: 7 not relevant.');
  expect(hiddenWords({ muted: 2, not_relevant: 7 }, true)).toBe('Listed too: 2 muted, 7 not relevant.');
  expect(hiddenWords({ muted: 0, not_relevant: 0 })).toBeNull();
});

const judged = (verdict: NonNullable<Match['relevance']>['verdict']) =>
  ({ relevance: { verdict, by: 'judge', reason: null, intent_version: 1 } }) as const;

test('a match without a verdict is never shown as hidden', () => {
  const verdicts = ['relevant', 'unsure', 'unjudged', 'not_relevant'] as const;
  const hiddenBy = (filter: Parameters<typeof isHiddenBy>[0]) =>
    verdicts.filter((verdict) => isHiddenBy(filter, judged(verdict)));
  expect(hiddenBy(undefined)).toEqual([]);
  expect(hiddenBy('not_irrelevant')).toEqual(['not_relevant']);
  expect(hiddenBy('relevant')).toEqual(['unsure', 'not_relevant']);
  expect(isHiddenBy('relevant', {})).toBe(false);
  expect(isHiddenBy(undefined, { muted_by: 'mut_1' })).toBe(true);
});

test('names who judged the match', () => {
  expect(sourceWords(judged('not_relevant').relevance)).toBe('The judge says: not relevant.');
  expect(sourceWords({ ...judged('relevant').relevance, by: 'label' })).toBe('Labelled relevant.');
  expect(sourceWords(judged('unjudged').relevance)).toBe('The judge gave no verdict.');
});

test('an example has the fields of its match that are known, once', () => {
  const match = {
    ...post,
    payload: { ...post.payload, title: null, text: 'A chip', language: 'en', published_at: null },
  };
  const made = exampleOf({ ...match, ...rest, why: { ...rest.why, evidence: [], undecided: [] } });
  expect(made).toEqual({
    platform: 'x',
    payload: { url: post.payload.url, author: post.payload.author, text: 'A chip', language: 'en' },
  });
  const examples = examplesWith(null, 'must_match', made);
  expect(examples).toEqual({ must_match: [made], must_not_match: [] });
  expect(hasExample(examples, 'must_match', made)).toBe(true);
  expect(hasExample(examples, 'must_not_match', made)).toBe(false);
  const other = { ...made, payload: { ...made.payload, url: 'https://x.com/ferris/status/2' } };
  expect(examplesWith(examples, 'must_match', other).must_match).toEqual([made, other]);
});
