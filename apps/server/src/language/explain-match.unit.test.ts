import { expect, test } from 'vitest';
import { createParsedRules, explainMatch, unexplainedOperators } from './explain-match.ts';

const rules = createParsedRules();

test('a match with an undecided clause shows the other clauses, and names that one', () => {
  const page = {
    document: {
      url: 'https://news.example/a',
      diff: { chunks: [{ typ: 'ins', text: 'Sales of heat pumps rose.' }] },
    },
  };
  const match = {
    platform: 'firehose',
    value: 'added:"heat pumps" AND NOT added:"sponsored"',
    raw: page,
  } as const;
  expect(explainMatch(rules, match)).toEqual({
    verdict: 'unknown',
    confidence: 'approximate',
    evidence: [
      {
        rule_span: { start: 0, end: 18 },
        field: 'added',
        path: 'document.diff.chunks[0].text',
        text_span: { start: 9, end: 19 },
        text: 'heat pumps',
      },
    ],
    undecided: [
      {
        rule_span: { start: 27, end: 44 },
        field: 'added',
        why: 'not in the delivered excerpt of the change',
      },
    ],
  });
});

test("a match that Earshot's own evaluation denies is not explained", () => {
  const match = {
    platform: 'x',
    value: 'aurora lang:de',
    raw: { data: { text: 'aurora', lang: 'en' } },
  } as const;
  expect(explainMatch(rules, match)).toMatchObject({ verdict: 'unknown', evidence: [] });
  expect(unexplainedOperators(rules, match)).toEqual(['lang']);
});

test.each([
  [
    'x',
    '@openai',
    {
      data: {
        text: 'RT @OpenAI: GPT-6',
        referenced_tweets: [{ type: 'retweeted', id: '2' }],
        entities: { mentions: [{ username: 'OpenAI' }] },
      },
      includes: { tweets: [{ id: '2', text: 'GPT-6', entities: { hashtags: [] } }] },
    },
  ],
  ['firehose', 'page_category:"/News"', { document: { page_category: ['/News/Business_News'] } }],
] as const)('on %s, %s is not held against us where it is only not documented', (platform, value, raw) => {
  expect(unexplainedOperators(rules, { platform, value, raw })).toEqual([]);
});
