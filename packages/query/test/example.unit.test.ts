import { describe, expect, test } from 'vitest';
import { judgeExamples } from '../src/example.ts';
import type { ExamplePayload } from '../src/example-payload.ts';
import type { Platform } from '../src/language.ts';

function judged(
  platform: Platform,
  value: string,
  payload: ExamplePayload,
  expectation: 'must_match' | 'must_not_match' = 'must_match',
) {
  const none = { must_match: [], must_not_match: [] };
  const [first] = judgeExamples({ [platform]: value }, { ...none, [expectation]: [{ platform, payload }] });
  if (first === undefined) throw new Error('nothing was judged');
  const { outcome, clause, message } = first;
  return { outcome, clause: clause && value.slice(...clause), message };
}

describe('an example of a post', () => {
  test('holds if the words are in its text', () => {
    expect(judged('x', 'rocket launch', { text: 'The launch of a rocket' }).outcome).toBe('holds');
    expect(judged('x', 'rocket', { text: 'A cake' }, 'must_not_match').outcome).toBe('holds');
  });

  test('a must_match example without a match fails with the missing clause', () => {
    expect(judged('x', 'rocket (launch OR landing) -is:retweet', { text: 'A rocket' })).toEqual({
      outcome: 'fails',
      clause: 'launch',
      message: 'Must match, but "launch" decides: the words are not in the post.',
    });
  });

  test('a must_match example fails with the negation that it meets', () => {
    expect(judged('x', 'rocket -lang:de', { text: 'rocket', language: 'de' })).toEqual({
      outcome: 'fails',
      clause: '-lang:de',
      message: 'Must match, but "-lang:de" decides: the item has "de".',
    });
  });

  test('a must_not_match example fails with the clause that matches it', () => {
    expect(judged('x', '-cake rocket', { text: 'Pocket Rocket, the game' }, 'must_not_match')).toEqual({
      outcome: 'fails',
      clause: 'rocket',
      message: 'Must not match, but "rocket" decides: the item has "Rocket".',
    });
  });

  test('has the tags, mentions and links of its text, and is no retweet', () => {
    const payload = { text: 'Up! #Rocket $SPCE @nasa https://nasa.example/launch' };
    for (const value of ['#rocket', '$SPCE', '@nasa', 'url:nasa', 'up has:links -is:retweet -has:media']) {
      expect([value, judged('x', value, payload).outcome]).toEqual([value, 'holds']);
    }
  });

  test('leaves clauses about omitted fields undecided', () => {
    const payload = { text: 'rocket', author: { handle: 'nasa' } };
    expect(judged('x', 'from:nasa', payload).outcome).toBe('holds');
    for (const value of ['from:11348282', 'rocket lang:en', 'rocket followers_count:100..200']) {
      expect([value, judged('x', value, payload).outcome]).toEqual([value, 'undecided']);
    }
    expect(judged('x', 'rocket lang:en', payload)).toEqual({
      outcome: 'undecided',
      clause: 'lang:en',
      message: 'Not decided by the example: "lang:en", because the language was not delivered.',
    });
  });

  test('is evaluated as delivered if it has `raw`', () => {
    const raw = {
      data: { id: '2', text: 'rocket', referenced_tweets: [{ type: 'retweeted', id: '1' }] },
      includes: { tweets: [{ id: '1', text: 'rocket' }] },
    };
    expect(judged('x', 'rocket -is:retweet', { text: 'rocket', raw }, 'must_not_match').outcome).toBe(
      'holds',
    );
    expect(judged('x', 'rocket -is:retweet', { text: 'rocket' }, 'must_not_match').outcome).toBe('fails');
  });
});

describe('an example of a page', () => {
  const page = {
    text: 'A heat pump for every roof.\nNew prices.',
    title: 'Prices',
    url: 'https://www.shop.example/pumps',
    language: 'en',
    published_at: '2026-05-14T10:00:00.000Z',
  };

  test('treats its text as the complete added text', () => {
    expect(judged('firehose', '"heat pump" AND title:prices', page).outcome).toBe('holds');
    expect(judged('firehose', 'boiler', page)).toMatchObject({ outcome: 'fails', clause: 'boiler' });
  });

  test('decides by address, language and publication time', () => {
    const value =
      'domain:"shop.example" AND language:"en" AND publish_time:[2026-05-01 TO 2026-06-01} AND roof';
    expect(judged('firehose', value, page).outcome).toBe('holds');
    expect(judged('firehose', 'roof AND language:"de"', page)).toMatchObject({
      outcome: 'fails',
      clause: 'language:"de"',
    });
  });

  test('leaves clauses about omitted fields undecided', () => {
    for (const value of ['roof AND title:prices', 'roof AND language:"en"', 'roof AND dr:[60 TO *]']) {
      expect([value, judged('firehose', value, { text: 'roof' }).outcome]).toEqual([value, 'undecided']);
    }
    expect(judged('firehose', 'roof AND recent:7d', page).outcome).toBe('undecided');
  });

  test('is an excerpt if it has `raw`, so missing text is undecided', () => {
    const raw = { document: { url: page.url, diff: { chunks: [{ typ: 'ins', text: 'roof' }] } } };
    expect(judged('firehose', 'roof', { raw }).outcome).toBe('holds');
    expect(judged('firehose', 'boiler', { raw }).outcome).toBe('undecided');
  });
});

test('reports every example with its list and number, also for a platform without the rule', () => {
  const post = { platform: 'x', payload: { text: 'rocket' } } as const;
  const page = { platform: 'firehose', payload: { text: 'rocket' } } as const;
  const judgements = judgeExamples({ x: 'rocket' }, { must_match: [post, page], must_not_match: [post] });
  expect(judgements.map((one) => `${one.expectation}.${one.index} ${one.outcome}`)).toEqual([
    'must_match.0 holds',
    'must_match.1 misplaced',
    'must_not_match.0 fails',
  ]);
});
