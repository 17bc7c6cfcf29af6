import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { matchesGlob, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { lanes, lanesFor } from '../nightly.ts';

const root = resolve(import.meta.dirname, '../..');
const paths = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: root,
  encoding: 'utf8',
}).split('\n');
const isIn = (path: string, globs: readonly string[]) => globs.some((glob) => matchesGlob(path, glob));

test('every long test is in a lane', () => {
  const isLong = (path: string) =>
    /\.(nightly|nightly-browser|docs)\.test\.ts$|^e2e\/(containers|examples)\/.*\.test\.ts$/.test(path) ||
    (/\.(unit|int|e2e)\.test\.ts$/.test(path) &&
      path !== 'tools/test/nightly.unit.test.ts' &&
      /\b(lengthOf|testNightly)[<(]/.test(readFileSync(resolve(root, path), 'utf8')));
  const tests = Object.values(lanes).flatMap((lane) => lane.tests);
  expect(paths.filter(isLong).filter((path) => !isIn(path, tests))).toEqual([]);
});

test.each(Object.entries(lanes))('lane %s guards and runs files that exist', (_, { guards, tests }) => {
  expect([...guards, ...tests].filter((glob) => !paths.some((path) => isIn(path, [glob])))).toEqual([]);
});

test('a change requires the lanes that guard it or contain it', () => {
  expect(lanesFor(['packages/sdk/src/call.ts'])).toEqual(['pipeline', 'packages']);
  expect(lanesFor(['e2e/crash-points.e2e.test.ts'])).toEqual(['rules']);
  expect(lanesFor(['LICENSE'])).toEqual([]);
});
