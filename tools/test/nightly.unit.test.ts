import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { matchesGlob, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { longFiles } from '../longest-first.ts';
import { guardsOf, nightly } from '../nightly.ts';

const root = resolve(import.meta.dirname, '../..');
const paths = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: root,
  encoding: 'utf8',
}).split('\n');
const read = (path: string) => readFileSync(resolve(root, path), 'utf8');

test('the table names every test file that has more to do at night, and no other', () => {
  const tests = paths.filter(
    (path) => path.endsWith('.test.ts') && path !== 'tools/test/nightly.unit.test.ts',
  );
  const withMore = tests.filter(
    (path) => path.endsWith('.nightly.test.ts') || /\b(lengthOf|testNightly)[<(]/.test(read(path)),
  );
  expect(Object.keys(nightly).toSorted()).toEqual(withMore.toSorted());
});

test.each(Object.entries(nightly))('%s guards files that exist', (_, globs) => {
  expect(globs).not.toEqual([]);
  expect(globs.filter((glob) => !paths.some((path) => matchesGlob(path, glob)))).toEqual([]);
});

test('a change calls for the files that guard it, and for those that it changes', () => {
  expect(guardsOf(['packages/sdk/src/call.ts'])).toEqual(['e2e/sdk-follower.fault.e2e.test.ts']);
  expect(guardsOf(['e2e/limits.e2e.test.ts'])).toEqual(['e2e/limits.e2e.test.ts']);
  expect(guardsOf(['README.md'])).toEqual([]);
});

test('the files that run first exist', () => {
  expect(longFiles.filter((path) => !paths.includes(path))).toEqual([]);
});
