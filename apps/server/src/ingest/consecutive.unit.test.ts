import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { createConsecutive } from './consecutive.ts';

test('the position is the last id of the longest completed prefix', () => {
  const order = fc.integer({ min: 1, max: 60 }).chain((count) =>
    fc.record({
      count: fc.constant(count),
      done: fc.shuffledSubarray(Array.from({ length: count }, (_, n) => n)),
    }),
  );
  fc.assert(
    fc.property(order, fc.option(fc.constant('start')), ({ count, done }, start) => {
      const consecutive = createConsecutive(start);
      const entries = Array.from({ length: count }, (_, n) => consecutive.begin(`id${n}`));
      const finished = new Set<number>();
      expect(consecutive.position()).toBe(start);
      for (const n of done) {
        entries[n]?.done();
        finished.add(n);
        let prefix = 0;
        while (finished.has(prefix)) prefix++;
        expect(consecutive.position()).toBe(prefix === 0 ? start : `id${prefix - 1}`);
      }
    }),
  );
});

test('the position is correct after thousands of completions', () => {
  const consecutive = createConsecutive(null);
  const held = consecutive.begin('held');
  const later = Array.from({ length: 5_000 }, (_, n) => consecutive.begin(`id${n}`));
  for (const entry of later) entry.done();
  expect(consecutive.position()).toBeNull();
  held.done();
  expect(consecutive.position()).toBe('id4999');
  consecutive.begin('last').done();
  expect(consecutive.position()).toBe('last');
});

test('completing an entry twice counts once', () => {
  const consecutive = createConsecutive(null);
  const first = consecutive.begin('a');
  consecutive.begin('b');
  first.done();
  first.done();
  expect(consecutive.position()).toBe('a');
});
