import { readFileSync } from 'node:fs';
import { operations } from '@earshot/contract';
import { expect, test } from 'vitest';

test('what to do is written for people: no notice names an operation or a field of the API', () => {
  const source = readFileSync(new URL('notice-kinds.ts', import.meta.url), 'utf8');
  const texts = source.slice(source.indexOf('const afterTrial'));
  const named = Object.keys(operations).filter((operation) => new RegExp(`\\b${operation}\\b`).test(texts));
  expect(named).toEqual([]);
  expect(texts).not.toMatch(/"(expires_at|state|from|to|budget)"/);
});
