import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { mutations } from '../mutations.ts';

const root = resolve(import.meta.dirname, '../..');

test.each(mutations)('mutation "$name": its text occurs once, and its tests exist', (mutation) => {
  const { file, find, replace, tests } = mutation;
  expect(readFileSync(resolve(root, file), 'utf8').split(find)).toHaveLength(2);
  expect(replace).not.toBe(find);
  expect(tests).not.toEqual([]);
  expect(tests.filter((path) => !existsSync(resolve(root, path)))).toEqual([]);
});

test('the list is long enough, says everything once, and excuses at most one in twenty', () => {
  expect(mutations.length).toBeGreaterThanOrEqual(40);
  expect(new Set(mutations.map(({ name }) => name)).size).toBe(mutations.length);
  expect(mutations.filter(({ survives }) => survives !== undefined).length).toBeLessThanOrEqual(
    mutations.length / 20,
  );
});
