import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { readSourceFiles } from '../source-files.ts';
import { findStructureProblems } from '../structure.ts';

const file = (path: string, ...lines: string[]) => ({
  path: `apps/server/src/${path}`,
  text: `${lines.join('\n')}\n`,
});
/** Enough folders of the same size that none is too large. */
const rooms = Array.from({ length: 10 }, (_, index) => file(`room${index}/a.ts`, '1', '2', '3', '4'));

test('a valid layout has no problems', () => {
  expect(findStructureProblems(rooms)).toEqual([]);
});

test('reports a folder that is too large, without counting tests', () => {
  const large = (suffix: string) => file(`room1/large${suffix}`, ...Array.from({ length: 40 }, String));
  expect(findStructureProblems([...rooms, large('.unit.test.ts')])).toEqual([]);
  expect(findStructureProblems([...rooms, large('.ts')])).toEqual([
    "room1/ holds 55.0 % of the server's lines",
  ]);
});

test('reports folders that import each other in a circle, also by types and through a third folder', () => {
  const circle = [
    file('room1/b.ts', "import { two } from '../room2/b.ts';"),
    file('room2/b.ts', "import type { Three } from '../room3/b.ts';"),
    file('room3/b.ts', "export { one } from '../room1/a.ts';"),
    file('room4/b.ts', "import { one } from '../room1/a.ts';"),
  ];
  expect(findStructureProblems([...rooms, ...circle])).toEqual([
    'room1/ and room2/ are in a circle of folders: room1/b.ts → room2/b.ts',
    'room2/ and room3/ are in a circle of folders: room2/b.ts → room3/b.ts',
    'room3/ and room1/ are in a circle of folders: room3/b.ts → room1/a.ts',
  ]);
});

test.for([
  "if (source.platform === 'x') return;",
  "where platform = 'x'`,",
  "if (platforms.includes('firehose')) return;",
  'const listed = rule.platforms.firehose ? 1 : 0;',
])('reports outside of upstream/: %s', (line) => {
  const rows = [...rooms, file('room1/b.ts', line), file('upstream/x/b.ts', line)];
  expect(findStructureProblems(rows)).toEqual([`room1/b.ts:1 names a platform: ${line}`]);
});

test('a comment may name a platform', () => {
  expect(findStructureProblems([...rooms, file('room1/b.ts', "  // As on 'x'.")])).toEqual([]);
});

test('reports a timer whose steps can overlap, in any package', () => {
  const timer = 'setInterval(async () => await write(), 1_000);';
  const rows = [...rooms, file('room1/b.ts', timer), { path: 'packages/sdk/src/b.ts', text: timer }];
  const allowed = [file('runtime/worker.ts', timer), file('room1/b.unit.test.ts', timer)];
  expect(findStructureProblems([...rows, ...allowed])).toEqual([
    'apps/server/src/room1/b.ts uses setInterval: use repeat() or every() of runtime/worker.ts',
    'packages/sdk/src/b.ts uses setInterval: use repeat() or every() of runtime/worker.ts',
  ]);
});

test('a tree without a server is an error', () => {
  expect(() => findStructureProblems([])).toThrow('there are no sources');
});

test("the server's layout has no problems", async () => {
  expect(findStructureProblems(await readSourceFiles(resolve(import.meta.dirname, '../..')))).toEqual([]);
});
