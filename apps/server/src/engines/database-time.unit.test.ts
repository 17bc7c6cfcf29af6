import { expect, test } from 'vitest';
import { aheadMs } from './database-time.ts';

test('the clock offset leaves out what a slow answer explains', () => {
  expect(aheadMs(1_000, { beforeMs: 990, afterMs: 1_010 })).toBe(0);
  // The answer took 8 s, and its time was read at any moment of that.
  expect(aheadMs(1_000, { beforeMs: 1_000, afterMs: 9_000 })).toBe(0);
  expect(aheadMs(1_000, { beforeMs: 4_000, afterMs: 4_020 })).toBe(3_000);
  expect(aheadMs(9_000, { beforeMs: 4_000, afterMs: 4_020 })).toBe(-4_980);
});
