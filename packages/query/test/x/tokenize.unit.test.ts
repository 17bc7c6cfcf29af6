import { threadCpuUsage } from 'node:process';
import { expect, test } from 'vitest';
import { tokenize } from '../../src/x/tokenize.ts';

const values = (text: string): string[] => tokenize(text).map(({ value }) => value);

test.each([
  ['I like coca-cola', ['i', 'like', 'coca', 'cola']],
  ["Brand. @brand #brand brand's", ['brand', 'brand', 'brand', 'brand', 's']],
  ['FESTIVAL2015', ['festival2015']],
  ['Tom &amp; Jerry &lt;3', ['tom', 'jerry', '3']],
  ['cafe\u0301 CAFÉ', ['café', 'café']],
  ['snake_case', ['snake', 'case']],
  ['a🔥b👍🏽', ['a', '🔥', 'b', '👍🏽']],
  ['❤️ ❤', ['❤', '❤']],
  ['👨‍👩‍👧🇳🇴🇮🇸', ['👨‍👩‍👧', '🇳🇴', '🇮🇸']],
  ['ΟΔΟΣ οδος', ['οδοσ', 'οδοσ']],
  ['می‌خواهم', ['می‌خواهم']],
  ['', []],
  [' …!? ', []],
])('%s becomes %j', (text, expected) => {
  expect(values(text)).toEqual(expected);
});

test('tokens know their place in the original text', () => {
  const text = 'Tom &amp; 🔥cafe\u0301!';
  expect(tokenize(text).map(({ start, end }) => text.slice(start, end))).toEqual(['Tom', '🔥', 'cafe\u0301']);
});

test('runs of scripts without spaces are marked', () => {
  expect(tokenize('氷河 ice ภาษา').map(({ dense }) => dense)).toEqual([true, false, true]);
});

test('a megabyte is read in linear time', { timeout: 60_000 }, () => {
  const best = (lines: number) => {
    const text = 'ice &amp '.repeat(lines);
    const times = Array.from({ length: 4 }, () => {
      const before = threadCpuUsage();
      expect(tokenize(text)).toHaveLength(2 * lines);
      const { user, system } = threadCpuUsage(before);
      return user + system;
    });
    return Math.min(...times);
  };
  // Ten times the text takes ten times as long, and a hundred times if every sign looks at all others.
  expect(best(100_000)).toBeLessThan(40 * best(10_000));
});
