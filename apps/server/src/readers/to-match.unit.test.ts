import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { matchIdOf, positionOf } from '../runtime/ids.ts';

test('ids sort like their positions', () => {
  const position = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER });
  fc.assert(
    fc.property(position, position, (a, b) => {
      expect(Math.sign(Number(matchIdOf(a) > matchIdOf(b)) - Number(matchIdOf(a) < matchIdOf(b)))).toBe(
        Math.sign(a - b),
      );
    }),
  );
});

test('an id has a prefix and twelve characters', () => {
  expect(matchIdOf(0)).toBe('mat_000000000000');
  expect(matchIdOf(36)).toBe('mat_000000000010');
  expect(matchIdOf(Number.MAX_SAFE_INTEGER)).toMatch(/^mat_[0-9a-z]{12}$/);
});

test('a position can be read from an id, and from nothing else', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }), (position) => {
      expect(positionOf(matchIdOf(position))).toBe(position);
    }),
  );
  for (const bad of [
    '',
    'mat_',
    'mat_00000000001',
    'mat_0000000000010',
    'mat_00000000000A',
    'rule_000000000001',
  ])
    expect(positionOf(bad)).toBeNull();
  expect(positionOf('mat_zzzzzzzzzzzz')).toBeNull();
});
