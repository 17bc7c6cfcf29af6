import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findExcuses, findIgnoredSources, findProcessAccess, readSourceFiles } from '../source-files.ts';

const file = (path: string, text: string) => ({ path, text });

test.for([
  ['packages/engines/src/a.ts', "const a = process.env['A'];"],
  ['packages/sandbox/src/http/server.ts', 'process.exit(1);'],
  ['apps/server/src/rules/a.ts', 'const now = process.hrtime();'],
  ['apps/server/src/http/a.ts', "import { env } from 'node:process';"],
] as const)('reports in %s: %s', ([path, line]) => {
  expect(findProcessAccess([file(path, `\n${line}\n`)])).toEqual([`${path}:2: ${line}`]);
});

test.for([
  ['apps/server/src/main.ts', 'process.exit(1);'],
  ['apps/cli/src/commands/services.ts', "process.env['A'];"],
  ['packages/sandbox/src/main.ts', 'process.exit(1);'],
  ['packages/engines/src/a.ts', "process.kill(1, 'SIGINT');"],
  ['packages/engines/src/a.ts', '// not process.env, which only entry points read'],
  ['apps/server/test/a.unit.test.ts', 'process.env'],
] as const)('accepts in %s: %s', ([path, line]) => {
  expect(findProcessAccess([file(path, line)])).toEqual([]);
});

test.for([
  "test.skip('a', () => {});",
  "describe.skipIf(!canMount)('a', () => {});",
  "test.concurrent.runIf(x)('a', () => {});",
  "test.todo('a');",
  "test('a', { skip: true }, () => {});",
  'context.skip();',
  "test('a', { retry: 2 }, () => {});",
  '  retry: 5,',
])('reports an excused test: %s', (line) => {
  expect(findExcuses([file('a.unit.test.ts', `\n${line}\n`)])).toEqual([`a.unit.test.ts:2: ${line.trim()}`]);
});

test.for([
  "test('a', skipUnless('mount', missing), () => {});",
  "response.writeHead(429, { 'retry-after': '3600' });",
  'skipTo: (claim, position) => store.skipTo(claim, position),',
  '// test.skip is not for us',
  'response.write(`retry: ${reconnectAfterMs}`);',
])('accepts in a test: %s', (line) => {
  expect(findExcuses([file('a.unit.test.ts', line)])).toEqual([]);
});

test('reports a source that git ignores, but not a dependency', async () => {
  const root = await mkdtemp(join(tmpdir(), 'earshot-sources-'));
  execFileSync('git', ['init', '-q'], { cwd: root });
  await writeFile(join(root, '.gitignore'), 'coverage/\nnode_modules/\n');
  for (const folder of ['apps/a/coverage', 'apps/a/node_modules/b', 'apps/a/src']) {
    await mkdir(join(root, folder), { recursive: true });
    await writeFile(join(root, folder, 'c.ts'), '');
  }
  expect(await findIgnoredSources(root)).toEqual(['apps/a/coverage/c.ts: git ignores it']);
  expect(await readSourceFiles(root)).toEqual([{ path: 'apps/a/src/c.ts', text: '' }]);
  await rm(root, { recursive: true });
});
