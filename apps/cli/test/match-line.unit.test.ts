import { expect, test } from 'vitest';
import type { DemoMatch } from '../src/demo/api.ts';
import { matchLine } from '../src/demo/match-line.ts';
import { fitWidth, printable } from '../src/demo/printable.ts';

const post: DemoMatch = {
  created_at: '2026-11-14T22:46:00.000Z',
  platform: 'x',
  platform_post_id: '1',
  payload: { title: null, text: 'Liftoff!', author: { name: 'Mira', handle: 'mira' } },
};
const page: DemoMatch = {
  ...post,
  platform: 'firehose',
  platform_post_id: 'https://news.example/a/1',
  payload: { title: 'A title', text: 'much text', author: null },
};

test('a line has the time, the platform, who wrote it and what', () => {
  expect(matchLine(post, 100)).toMatch(/^\d\d:\d\d:\d\d {2}x {9}@mira {20}.*Liftoff!$/);
  expect(matchLine(page, 100)).toMatch(/^\d\d:\d\d:\d\d {2}firehose {2}news\.example {14}A title$/);
});

test('no control, bidirectional or line-breaking character of a post reaches the terminal', () => {
  const hostile = '\u001b[2Ja\r\nb\u0007\u009b1m\u202ec\u2028d\u0000\u200be\ud800';
  expect(printable(hostile)).toBe('[2Ja b 1m c d e');
  const line = matchLine(
    {
      ...post,
      platform: hostile,
      payload: { title: null, text: hostile, author: { name: null, handle: hostile } },
    },
    200,
  );
  expect(line).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}]/u);
});

test('a line is never wider than the terminal, also with wide characters', () => {
  expect(fitWidth('ロケット打ち上げ', 7)).toBe('ロケッ…');
  expect(fitWidth('🚀🚀', 4)).toBe('🚀🚀');
  expect(fitWidth('🚀🚀🚀', 4)).toBe('🚀… ');
  expect(fitWidth('abc', 5)).toBe('abc  ');
  expect(matchLine({ ...post, payload: { ...post.payload, text: 'x'.repeat(500) } }, 80)).toHaveLength(80);
});
