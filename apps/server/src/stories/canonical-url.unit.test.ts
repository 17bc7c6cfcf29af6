import { expect, test } from 'vitest';
import { canonicalUrl } from './canonical-url.ts';

test.each([
  {
    canonical: 'example.com/news/1',
    urls: [
      'https://example.com/news/1',
      'http://www.EXAMPLE.com/news/1/',
      'https://m.example.com/news//1#comments',
      'https://example.com./news/1?utm_source=x&utm_medium=social&fbclid=1&gclid=2&ref=home',
      'https://example.com/news/1?UTM_Campaign=a',
      'https://user:secret@example.com:443/news/1',
      'https://amp.example.com/news/1/amp/',
      'https://example.com/amp/news/1?amp=1',
      'https://www.google.com/amp/s/www.example.com/news/1/amp',
      'https://example-com.cdn.ampproject.org/c/s/example.com/news/1?utm_source=g',
    ],
  },
  { canonical: 'example.com/a.html', urls: ['https://example.com/a.html', 'https://example.com/a.amp.html'] },
  {
    canonical: 'example.com/?p=2&q=1',
    urls: ['https://example.com?q=1&p=2', 'https://example.com/?p=2&utm_id=7&q=1'],
  },
  { canonical: 'example.com/a?x=1&x=2', urls: ['https://example.com/a?x=2&x=1'] },
  { canonical: 'example.com/Case', urls: ['https://example.com/Case'] },
  { canonical: 'example.com/case', urls: ['https://example.com/case'] },
  { canonical: 'example.com:8080/a', urls: ['https://example.com:8080/a'] },
  { canonical: 'm.com/a', urls: ['https://m.com/a', 'https://www.m.com/a'] },
  { canonical: 'xn--mnchen-3ya.example/a', urls: ['https://münchen.example/a'] },
  { canonical: 'google.com/search?q=amp', urls: ['https://google.com/search?q=amp'] },
  { canonical: 'example.com/a?reference=1', urls: ['https://example.com/a?reference=1'] },
  {
    canonical: null,
    urls: [
      'https://example.com',
      'https://example.com/',
      'https://www.example.com/?utm_source=x#top',
      'https://example.com/amp',
    ],
  },
])('$canonical is the canonical form of all its addresses', ({ canonical, urls }) => {
  const found = urls.map((url) => [url, canonicalUrl(new URL(url))]);
  expect(found).toEqual(urls.map((url) => [url, canonical]));
});
