import { expect, test } from 'vitest';
import { retryAfterMs } from './client.ts';

const nowMs = 1_000_000_000_000;
const inTenSeconds = String(nowMs / 1_000 + 10);

test.each([
  [429, { 'retry-after': '7' }, 7_000],
  [503, { 'retry-after': '7' }, 7_000],
  [429, { 'x-rate-limit-reset': inTenSeconds }, 10_000],
  [429, { 'retry-after': '7', 'x-rate-limit-reset': inTenSeconds }, 7_000],
  [429, { 'x-rate-limit-reset': '1' }, 0],
  // X sends it with every answer; on another status it is irrelevant.
  [503, { 'x-rate-limit-reset': inTenSeconds }, null],
  [429, { 'retry-after': 'Sun, 09 Sep 2001 01:46:47 GMT' }, 7_000],
  [429, { 'retry-after': 'Sun, 09 Sep 2001 01:46:33 GMT' }, 0],
  [429, { 'retry-after': 'Wed, 21 Oct 2026 07:28:00 GMT' }, 900_000],
  [429, { 'retry-after': 'Wed, 99 Foo 2026 07:28:00 GMT' }, null],
  [429, { 'retry-after': '' }, null],
  [429, { 'retry-after': '-1' }, null],
  [429, { 'retry-after': ['1', '2'] }, null],
  [429, {}, null],
  // Beyond the range of a timer, it would fire at once.
  [429, { 'retry-after': '9999999999' }, 900_000],
  [429, { 'x-rate-limit-reset': '99999999999999' }, 900_000],
])('a %i with %j means a wait of %s ms', (statusCode, headers, expected) => {
  expect(retryAfterMs({ statusCode, headers }, nowMs)).toBe(expected);
});
