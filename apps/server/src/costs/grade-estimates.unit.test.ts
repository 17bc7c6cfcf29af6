import { expect, test } from 'vitest';
import { isEstimateOff } from './grade-estimates.ts';

test.each([
  [null, 100, 60, false],
  [null, 100, 40, true],
  [null, 100, 210, true],
  ['at_least', 100, 900, false],
  ['at_least', 100, 60, true],
  ['at_most', 100, 0, false],
  ['at_most', 100, 140, true],
  // So few say nothing.
  [null, 3, 15, false],
  [null, 0, 30, true],
] as const)('%s, estimated %i, came %i: off %s', (bound, estimated, matches, isOff) => {
  expect(isEstimateOff({ bound, estimated, matches })).toBe(isOff);
});
