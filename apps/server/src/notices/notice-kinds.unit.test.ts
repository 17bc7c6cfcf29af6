import { readFileSync } from 'node:fs';
import { operations } from '@earshot/contract';
import { expect, test } from 'vitest';
import { noticeKinds } from './notice-kinds.ts';

test('what to do is written for people: no notice names an operation or a field of the API', () => {
  const source = readFileSync(new URL('notice-kinds.ts', import.meta.url), 'utf8');
  const texts = source.slice(source.indexOf('const afterTrial'));
  const named = Object.keys(operations).filter((operation) => new RegExp(`\\b${operation}\\b`).test(texts));
  expect(named).toEqual([]);
  expect(texts).not.toMatch(/"(expires_at|state|from|to|budget)"/);
});

test('a gap within a second has no end that is its start', () => {
  const gap = { platform: 'x', reason: 'dropped', from: '2026-11-19T10:18:44.528Z' } as const;
  const text = (to: string) => noticeKinds['coverage.gap'].whatToDo({ ...gap, to });
  expect(text('2026-11-19T10:18:44.571Z')).toMatch(/^Matches from X at 2026-11-19 10:18:44 UTC may be/);
  expect(text('2026-11-19T10:18:46.571Z')).toContain(
    'between 2026-11-19 10:18:44 UTC and 2026-11-19 10:18:46',
  );
});

test('a gap that a search has repaired is not said to lack nothing', () => {
  const gap = { platform: 'x', from: '2026-11-19T10:10:22Z', to: '2026-11-19T10:12:21Z' } as const;
  const { whatToDo } = noticeKinds['coverage.repaired'];
  expect(whatToDo({ ...gap, via: 'replay' })).toMatch(/10:12:21 UTC were fetched\.$/);
  expect(whatToDo({ ...gap, via: 'search' })).toContain('were fetched as far as a search finds them.');
});
