import { expect, test } from 'vitest';
import { closest, editDistance, quoted } from '../src/text.ts';

test.each([
  ['solar', 'solar', 0],
  ['solar', 'solr', 1],
  ['solar', 'sloar', 1],
  ['solar', 'polar', 1],
  ['ab', 'ba', 1],
  ['a😀', 'a', 1],
  ['', 'ab', 2],
  ['abcdef', 'xyzdef', 3],
])('from %s to %s it takes %i edits', (left, right, distance) => {
  expect(editDistance(left, right, 2)).toBe(Math.min(distance, 3));
  expect(editDistance(right, left, 5)).toBe(distance);
});

test('the closest candidate is proposed, and nothing that is far away', () => {
  expect(closest('tittle', ['title', 'url'])).toBe('title');
  expect(closest('Langauge', ['language', 'title'])).toBe('language');
  expect(closest('apple', ['title', 'url'])).toBeNull();
  expect(closest('ul', ['url', 'dr'])).toBe('url');
});

test('user text in a message is quoted and bounded', () => {
  expect(quoted('a"b')).toBe('"a\\"b"');
  expect(quoted('x'.repeat(500)).length).toBeLessThan(70);
});
