import type { Match } from '@earshot/sdk';
import { expect, test } from 'vitest';
import { cutAtMarks, findMarks } from '../src/screens/feed/marks.ts';

const payload = { url: null, author: null, published_at: null, language: null };
const evidence = (path: string, start: number, end: number, text: string) => ({
  rule_span: { start: 0, end: 4 },
  field: 'keyword',
  path,
  text_span: { start, end },
  text,
});
const why: Omit<Match['why'], 'evidence'> = { verdict: 'match', confidence: 'exact', undecided: [] };

test('finds the matching words in the shown title and text', () => {
  const chunks = [{ text: 'Nothing here.' }, { text: 'A chip plant.' }];
  const marks = findMarks({
    payload: {
      ...payload,
      title: 'New chip',
      text: 'Nothing here.\nA chip plant.',
      raw: { document: { title: 'New chip', diff: { chunks } } },
    },
    why: {
      ...why,
      evidence: [
        evidence('document.title', 4, 8, 'chip'),
        evidence('document.diff.chunks[1].text', 2, 6, 'chip'),
      ],
    },
  });
  expect(marks).toEqual({
    title: [{ start: 4, end: 8, evidence: 0 }],
    text: [{ start: 16, end: 20, evidence: 1 }],
  });
});

test('evidence outside the shown text has no mark', () => {
  const marks = findMarks({
    payload: { ...payload, title: null, text: 'Look', raw: { includes: { tweets: [{ text: 'chip' }] } } },
    why: { ...why, evidence: [evidence('includes.tweets[0].text', 0, 4, 'chip')] },
  });
  expect(marks).toEqual({ title: [], text: [] });
});

test('the pieces always make up the whole text', () => {
  const marks = [
    { start: 2, end: 4, evidence: 0 },
    { start: 3, end: 5, evidence: 1 },
    { start: 5, end: 99, evidence: 2 },
  ];
  const pieces = cutAtMarks('abcdefg', marks);
  expect(pieces).toEqual([
    { text: 'ab', evidence: null },
    { text: 'cd', evidence: 0 },
    { text: 'efg', evidence: null },
  ]);
});
