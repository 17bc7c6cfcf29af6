import { describe, expect, test } from 'vitest';
import { compileRegex, compileWildcard } from '../src/pattern.ts';
import { createRandom } from './firehose/random.ts';

function regexMatches(source: string, text: string): boolean | null | string {
  const { pattern, error } = compileRegex(source);
  return pattern === null ? (error?.message ?? '') : pattern.test(text);
}

describe('wildcards', () => {
  test.each([
    ['*/press/*', 'https://a.example/press/1', true],
    ['*/press/*', 'https://a.example/Press/1', false],
    ['a?c', 'abc', true],
    ['a?c', 'a😀c', true],
    ['a?c', 'ac', false],
    ['a*', 'a', true],
    ['*', '', true],
    ['', 'a', false],
    [String.raw`a\*`, 'a*', true],
    [String.raw`a\*`, 'ab', false],
    ['*a*b*c*', 'xxaxxbxxcxx', true],
    ['*a*b*c', 'xxaxxbxxcxx', false],
  ])('%s on %s: %s', (pattern, text, expected) => {
    expect(compileWildcard(pattern).test(text)).toBe(expected);
  });

  test('agree with a naive matcher on random patterns', () => {
    const random = createRandom(3);
    const naive = (pattern: string, text: string): boolean => {
      if (pattern === '') return text === '';
      if (pattern.startsWith('*')) {
        return naive(pattern.slice(1), text) || (text !== '' && naive(pattern, text.slice(1)));
      }
      return (
        text !== '' &&
        (pattern[0] === '?' || pattern[0] === text[0]) &&
        naive(pattern.slice(1), text.slice(1))
      );
    };
    for (let round = 0; round < 5_000; round += 1) {
      const pattern = Array.from({ length: random.below(7) }, () => random.pick(Array.from('ab*?'))).join('');
      const text = Array.from({ length: random.below(8) }, () => random.pick(Array.from('ab'))).join('');
      expect(compileWildcard(pattern).test(text), `${pattern} on ${text}`).toBe(naive(pattern, text));
    }
  });
});

describe('regular expressions', () => {
  test.each([
    [String.raw`.*\/20[0-9]{2}\/.*`, 'https://a.example/2026/x', true],
    ['abc', 'xabcx', false],
    ['ab|cd', 'cd', true],
    ['a{2,3}', 'aaaa', false],
    ['a{2,}', 'aaaa', true],
    ['[^a-c]+', 'xyz', true],
    ['.', '😀', true],
    ['', '', true],
    ['~(.*foo.*)', 'barfoo', false],
    ['~(.*foo.*)', 'bar', true],
    ['@a@&@b@', 'xbxax', true],
    ['#', '', false],
    ['"a.b"', 'a.b', true],
    ['"a.b"', 'axb', false],
    ['<7-142>', '42', true],
    ['<7-142>', '042', true],
    ['<7-142>', '143', false],
    ['<05-10>', '7', false],
    ['<05-10>', '07', true],
    [String.raw`\d`, 'd', true],
    ['a||b', '|b', true],
    ['*a', '*a', true],
  ])('%s on %s: %s', (source, text, expected) => {
    expect(regexMatches(source, text)).toBe(expected);
  });

  test.each([
    ['(a', 0],
    ['a)', 1],
    ['[a', 0],
    ['[b-a]', 1],
    ['a{', 2],
    ['a{x}', 2],
    ['a{2', 3],
    ['"a', 0],
    ['<a>', 0],
    ['a\\', 2],
    ['a{5000}', 2],
    ['('.repeat(60), 50],
    ['a'.repeat(1001), 1000],
  ])('%s is refused at %i', (source, at) => {
    expect(compileRegex(source).error?.at).toBe(at);
  });

  test.each([
    ['(a*)*b', 'a'.repeat(10_000)],
    ['(a|a)*b', 'a'.repeat(10_000)],
    ['(.*a){30}b', 'a'.repeat(10_000)],
    ['(.*a){500}b', 'ab'.repeat(5_000)],
    ['(a|b)*a(a|b){900}', 'ab'.repeat(5_000)],
    ['(((a{1,1000}){1,1000}){1,1000}){1,1000}', 'a'.repeat(5_000)],
    ['~(.*a.{12}b)c~(.*a.{12}c)', 'abc'.repeat(3_000)],
  ])('%s is fast, or gives no verdict', (source, text) => {
    const { pattern } = compileRegex(source);
    const before = process.threadCpuUsage();
    pattern?.test(text);
    const { user, system } = process.threadCpuUsage(before);
    expect((user + system) / 1000).toBeLessThan(200);
  });
});
