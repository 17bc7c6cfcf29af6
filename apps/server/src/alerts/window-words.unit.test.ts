import { expect, test } from 'vitest';
import { type SampledItem, topDomains, topWords } from './window-words.ts';

const item = (text: string, url: string | null = null): SampledItem => ({
  position: 1,
  payload: { url, title: null, text, author: null, published_at: null, language: null, raw: {} },
});

test('names the words that most items have, without those of the rule and small words', () => {
  const items = [
    item('The Outage at Acme: login is down, login login'),
    item('acme OUTAGE since noon, login fails https://example.com/login-help'),
    item('outage again? the billing page of acme'),
    item('cannot login, https://example.org'),
  ];
  expect(topWords(items, 'outage lang:en')).toEqual(['acme', 'login']);
});

test('two items name nothing, and hostile text stays short', () => {
  const rare = item('unique words only');
  expect(topWords([rare, rare], 'outage')).toEqual([]);
  const long = `${'a'.repeat(100_000)} \u202Eevil\u0000 <script>`;
  const words = topWords([item(long), item(long), item(long)], 'outage');
  expect(words.every((word) => word.length <= 40 && /^[\p{L}\p{N}'’.]+$/u.test(word))).toBe(true);
  expect(
    topWords([item('東京で地震がありました'), item('東京 地震 速報'), item('東京です')], '速報'),
  ).toContain('東京');
});

test('names at most five words and domains, the most common first', () => {
  const text = 'alpha beta gamma delta epsilon zeta';
  expect(topWords([item(text), item(text), item(text)], 'outage')).toHaveLength(5);
  const urls = [
    'https://www.example.com/a',
    'https://example.com/b',
    'https://sub.example.com/',
    'https://example.com/c',
    'https://example.org/',
    'not a url',
    null,
  ];
  expect(topDomains(urls.map((url) => item('', url)))).toEqual(['example.com']);
});
