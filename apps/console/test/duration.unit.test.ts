import { expect, test } from 'vitest';
import { formatDuration } from '../src/parts/duration.ts';

test('formats a duration in its two largest units, and less than 1 s with a decimal', () => {
  const inEnglish = (ms: number) => formatDuration(ms, 'en');
  expect(inEnglish(7_512_000)).toBe('2 hr 5 min');
  expect(inEnglish(86_400_000)).toBe('1 day');
  expect(inEnglish(4_250)).toBe('4 sec');
  expect(inEnglish(340)).toBe('0.3 sec');
  expect(inEnglish(-5)).toBe('0 sec');
});
