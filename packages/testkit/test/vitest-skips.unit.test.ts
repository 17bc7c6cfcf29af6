import { expect, test } from 'vitest';
import { skipUnless } from '../src/vitest-skips.ts';

test('with everything there, nothing is skipped', () => {
  expect(skipUnless('prometheus', null, false)).toEqual({ skip: false });
  expect(skipUnless('prometheus', null, true)).toEqual({ skip: false });
});

test('what is missing on the machine of a person is skipped', () => {
  expect(skipUnless('mount', 'no right to mount', false).skip).toBe(true);
});

test.for(['prometheus', 'mount', 'chromium'] as const)('in CI, %s must not be missing', (need) => {
  expect(() => skipUnless(need, 'not installed', true)).toThrow(/must not skip.*not installed/);
});

test('in CI, root may be missing', () => {
  expect(skipUnless('root', 'not installed', true).skip).toBe(true);
});
