import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { mutations } from '../test-mutations.ts';

const read = (path: string) => readFileSync(resolve(import.meta.dirname, '../..', path), 'utf8');

test.each(mutations)(
  'mutation "$name" finds its text exactly once, and its test is in the short run',
  (mutation) => {
    expect(read(mutation.file).split(mutation.find)).toHaveLength(2);
    expect(read(mutation.test)).toContain('test(');
    expect(mutation.test).not.toContain('.nightly.');
  },
);

test('every promise from I1 to I9 has a mutation', () => {
  const promises = [...read('docs/invariants.md').matchAll(/^\| (I[1-9]a?) \|/gm)].map(([, name]) => name);
  expect(promises.length).toBeGreaterThanOrEqual(9);
  expect(mutations.map(({ promise }) => promise).filter((promise) => promise !== null)).toEqual(promises);
});
