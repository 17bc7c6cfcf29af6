import { describe, expect, test } from 'vitest';
import { createPageMatcher } from '../../src/firehose/evaluate.ts';
import { firehoseLanguage } from '../../src/firehose/language.ts';
import type { Explanation, Verdict } from '../../src/language.ts';

function update(document: object, matchedAt = '2026-09-01T12:00:00Z'): unknown {
  return {
    tap_id: 't',
    query_ids: ['q'],
    matched_at: matchedAt,
    document: { url: 'https://a.example/', ...document },
  };
}

function evaluate(rule: string, payload: unknown): Verdict | null {
  const { root } = firehoseLanguage.parse(rule);
  return root === null ? null : firehoseLanguage.evaluate(root, payload);
}

function explain(rule: string, payload: unknown): Explanation | null {
  const { root } = firehoseLanguage.parse(rule);
  return root === null ? null : firehoseLanguage.explain(root, payload);
}

const inserted = (text: string): object => ({ diff: { chunks: [{ typ: 'ins', text }] } });

describe('text fields', () => {
  test('a hit in an inserted passage is exact, and a miss is undecided because the diff is an excerpt', () => {
    expect(evaluate('"heat pump"', update(inserted('A heat pump.')))).toEqual({
      state: 'match',
      confidence: 'exact',
    });
    expect(evaluate('"gas boiler"', update(inserted('A heat pump.')))?.state).toBe('unknown');
  });

  test('a phrase across two passages, and passages of an unknown kind, do not count', () => {
    const chunks = [
      { typ: 'ins', text: 'a heat' },
      { typ: 'ins', text: 'pump' },
      { typ: 'context', text: 'heat pump' },
    ];
    expect(evaluate('"heat pump"', update({ diff: { chunks } }))?.state).toBe('unknown');
  });

  test('a hit that depends on how words are split is unknown in the diff and approximate in the title', () => {
    expect(evaluate('shop', update(inserted('visit shop.example now')))?.state).toBe('unknown');
    expect(explain('acme', update(inserted("Acme's new pricing")))).toMatchObject({
      state: 'unknown',
      witness: [{ value: 'Acme' }],
    });
    expect(evaluate('title:shop', update({ title: 'visit shop.example now' }))).toEqual({
      state: 'no_match',
      confidence: 'approximate',
    });
  });

  test('stop words keep their positions in a phrase and do not match alone', () => {
    const payload = update(inserted('the state of the art'));
    expect(evaluate('"state of the art"', payload)?.state).toBe('match');
    expect(evaluate('"state in an art"', payload)?.state).toBe('match');
    expect(evaluate('"state art"', payload)?.state).toBe('unknown');
    expect(evaluate('th*', payload)?.state).toBe('unknown');
    expect(evaluate('title:the', update({ title: 'The end' }))?.state).toBe('match');
  });

  test('proximity counts places, and a swap costs two', () => {
    const payload = update({ title: 'pump for heat' });
    expect(evaluate('title:"heat pump"~3', payload)?.state).toBe('match');
    expect(evaluate('title:"heat pump"~2', payload)?.state).toBe('no_match');
    expect(evaluate('title:"pump pump"~5', payload)?.state).toBe('no_match');
  });
});

describe('fields outside the text', () => {
  const payload = update({
    url: 'https://www.eu.jobs.example.co.uk/a',
    page_category: ['/News/Politics'],
    domain_rating: 70,
  });

  test.each([
    ['domain:"www.eu.jobs.example.co.uk"', 'match', 'exact'],
    ['domain:"eu.jobs.example.co.uk"', 'match', 'approximate'],
    ['domain:"example.co.uk"', 'match', 'approximate'],
    ['domain:"jobs.example.co.uk"', 'unknown', 'approximate'],
    ['domain:"co.uk"', 'no_match', 'exact'],
    ['page_category:"/News/Politics"', 'match', 'exact'],
    ['page_category:"/News"', 'unknown', 'approximate'],
    ['page_category:"/New"', 'no_match', 'exact'],
    ['dr:[70 TO 80]', 'match', 'exact'],
    ['dr:{70 TO 80]', 'no_match', 'exact'],
    ['publish_time:[2026 TO *]', 'no_match', 'exact'],
    ['nosuchfield:x', 'no_match', 'exact'],
  ])('%s: %s, %s', (rule, state, confidence) => {
    expect(evaluate(rule, payload)).toEqual({ state, confidence });
  });

  test.each([
    ['2026-09-01T08:00:00', 'recent:24h', 'match'],
    ['2026-09-01T08:00:00', 'recent:4h', 'unknown'],
    ['2026-09-01T02:00:00', 'recent:4h', 'unknown'],
    ['2026-08-01T08:00:00', 'recent:7d', 'no_match'],
    ['2026-08-02T08:00:00', 'recent:1mo', 'unknown'],
    ['2026-09-01T08:00:00Z', 'recent:4h', 'match'],
    ['2026-09-01T08:00:00+02:00', 'recent:4h', 'no_match'],
    ['nonsense', 'recent:4h', 'unknown'],
  ])('published %s, %s: %s', (publishTime, rule, state) => {
    expect(evaluate(rule, update({ publish_time: publishTime }))?.state).toBe(state);
  });

  test('a pattern above the budget gives no verdict', () => {
    const [title, url] = ['ab'.repeat(3_000), `https://a.example/${'ab'.repeat(3_000)}`];
    expect(evaluate('title:/(.*a){500}b/', update({ title }))?.state).toBe('unknown');
    expect(evaluate('url:/(.*a){500}b/', update({ url }))?.state).toBe('unknown');
  });

  test('a payload of any shape gives a verdict', () => {
    for (const odd of [
      null,
      7,
      'x',
      [],
      {},
      { document: 7 },
      { document: { diff: { chunks: [null, 7, {}] } } },
    ]) {
      expect(evaluate('solar AND language:"en"', odd)?.state).toBe('no_match');
    }
  });
});

describe('an explanation', () => {
  const payload = update({
    title: 'Heat pumps win',
    language: 'en',
    ...inserted('Sales of heat pumps rose.'),
  });

  test('shows the smallest evidence with its place in the page and in the rule', () => {
    const rule = '("gas boiler" OR title:"heat pumps") AND language:"en"';
    expect(explain(rule, payload)).toMatchObject({
      state: 'match',
      witness: [
        { field: 'title', path: 'document.title', range: [0, 10], value: 'Heat pumps', rule: [17, 35] },
        { field: 'language', path: 'document.language', range: null, value: 'en', rule: [41, 54] },
      ],
    });
  });
});

describe('a whole page', () => {
  const page = {
    url: 'https://eu.jobs.example.com/a',
    title: 'Jobs',
    publish_time: '2026-09-01T08:00:00',
    matched_at: '2026-09-01T09:30:00Z',
    page_category: ['/News/Politics'],
    chunks: [
      { typ: 'ins', text: 'heat' },
      { typ: 'ins', text: 'pump' },
    ],
    anchors: { added: ['press release'], removed: [] },
  };

  test.each([
    ['"heat pump"', true],
    ['"gas boiler"', false],
    ['heat AND NOT boiler', true],
    ['added_anchor:"press release"', true],
    ['removed_anchor:"press release"', false],
    ['domain:"jobs.example.com"', true],
    ['dr:[0 TO *]', false],
    ['page_category:"/News"', false],
    ['heat AND NOT page_category:"/News"', true],
    ['recent:2h', true],
    ['recent:1h', false],
  ])('%s: %s', (rule, expected) => {
    const { root } = firehoseLanguage.parse(rule);
    expect(root !== null && createPageMatcher(page)(root)).toBe(expected);
  });
});
