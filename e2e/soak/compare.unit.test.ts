import { expect, test } from 'vitest';
import { compare, isWhole } from './compare.ts';

const at = (second: number) => ({ sentAfter: second * 1_000, sentBefore: second * 1_000 + 100 });
const sent = new Map([
  ['a', at(10)],
  ['b', at(20)],
  ['c', at(30)],
]);
const gap = { from: 19_000, to: 21_000 };

test('everything listed once is whole', () => {
  expect(isWhole(compare(sent, ['b', 'a', 'c'], []))).toBe(true);
});

test('what is missing inside a gap is explained, and outside of it is lost', () => {
  expect(compare(sent, ['a', 'c'], [gap])).toMatchObject({ inGaps: 1, lost: [] });
  const verdict = compare(sent, ['a'], [gap]);
  expect(verdict).toMatchObject({ inGaps: 1, lost: ['c'] });
  expect(isWhole(verdict)).toBe(false);
});

test('what is listed twice, or was never sent, is not whole', () => {
  expect(compare(sent, ['a', 'b', 'c', 'b'], [gap])).toMatchObject({ doubled: ['b'] });
  expect(compare(sent, ['a', 'b', 'c', 'z'], [])).toMatchObject({ strangers: ['z'] });
});
