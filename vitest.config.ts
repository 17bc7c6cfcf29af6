import { globSync, readFileSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { configDefaults, defineConfig } from 'vitest/config';
import { createTestResults } from './tools/test-results.ts';

/** Workers, and the programs that tests start, load compiled code from here: the server in half the time. */
process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, 'node_modules/.cache/compile');
enableCompileCache(process.env['NODE_COMPILE_CACHE']);

/** Set by CI. */
const resultsDir = process.env['TEST_RESULTS'];

const engines = 'packages/testkit/src/vitest-engines.ts';
const template = 'apps/server/test/vitest-template.ts';
const programs = 'packages/testkit/src/vitest-programs.ts';

/** How long a test may take is no bet on what else the machine does: what hangs is found, a minute later. */
const unit = { provide: { isNightly: false }, testTimeout: 60_000, hookTimeout: 60_000 };
const int = {
  ...unit,
  globalSetup: [engines, template],
  testTimeout: 120_000,
  hookTimeout: 120_000,
};
const e2e = { ...int, globalSetup: [engines, template, programs], testTimeout: 300_000 };

const filesThatCall = (call: RegExp, glob: string) =>
  globSync(glob, { cwd: import.meta.dirname }).filter((path) =>
    call.test(readFileSync(join(import.meta.dirname, path), 'utf8')),
  );

/** Test files that only call a server share one. */
const sharing = filesThatCall(/\bshareWorld\(/, 'e2e/*.e2e.test.ts');

/** Test files that replace modules, or load them again, for all files after them. */
const mocking = {
  unit: filesThatCall(
    /\bvi\.(?:mock|doMock|resetModules)\(/,
    '{packages,apps,tools,e2e,bench}/**/*.unit.test.ts',
  ),
  int: filesThatCall(/\bvi\.(?:m|doM)ock\(/, '{packages,apps}/**/*.int.test.ts'),
};

/** Test files that do more, or do it longer, in the project `nightly`. */
const longer = filesThatCall(
  /\b(?:lengthOf|testNightly)[<(]/,
  '{packages/query/test,apps/server,e2e}/**/*.{unit,int,e2e}.test.ts',
);

/**
 * Three projects, by what they need: `unit` nothing but Node, `int` real engines in one process,
 * `e2e` and `e2e-shared` the whole system as processes. The suffix of the file decides. `browser` is Chromium on
 * the console. `nightly` is what takes long: `*.nightly.test.ts`, and some of the others at full length.
 */
export default defineConfig({
  test: {
    // Most of them wait most of the time.
    maxWorkers: Math.min(4, availableParallelism() + 2),
    reporters: ['default', ...(resultsDir === undefined ? [] : [createTestResults(resultsDir)])],
    projects: [
      // The files of a worker share their imports, which take longer than the tests of most files.
      {
        test: {
          ...unit,
          name: 'unit',
          include: ['{packages,apps,tools,e2e,bench}/**/*.unit.test.ts'],
          exclude: [...configDefaults.exclude, ...mocking.unit],
          isolate: false,
        },
      },
      { test: { ...unit, name: 'unit-mocking', include: mocking.unit } },
      {
        test: {
          ...int,
          name: 'int',
          include: ['{packages,apps}/**/*.int.test.ts'],
          exclude: [...configDefaults.exclude, ...mocking.int],
          isolate: false,
        },
      },
      { test: { ...int, name: 'int-mocking', include: mocking.int } },
      { test: { ...e2e, name: 'e2e', include: ['e2e/**/*.e2e.test.ts'], exclude: sharing } },
      { test: { ...e2e, name: 'e2e-shared', include: sharing, isolate: false } },
      {
        test: {
          ...e2e,
          name: 'nightly',
          include: ['{packages,apps,e2e}/**/*.nightly.test.ts', ...longer],
          provide: { isNightly: true },
          testTimeout: 900_000,
          fileParallelism: false,
        },
      },
      // Chromium on the console that the server serves.
      {
        test: {
          ...e2e,
          name: 'browser',
          globalSetup: [...e2e.globalSetup, 'apps/console/test/vitest-build.ts'],
          include: ['apps/console/test/*.browser.test.ts'],
          testTimeout: 600_000,
          hookTimeout: 300_000,
        },
      },
      {
        test: {
          ...e2e,
          name: 'browser-nightly',
          globalSetup: [...e2e.globalSetup, 'apps/console/test/vitest-build.ts'],
          include: ['apps/console/test/*.nightly-browser.test.ts'],
          testTimeout: 600_000,
          hookTimeout: 300_000,
          fileParallelism: false,
        },
      },
      // The documentation as a site, whose packages only `pnpm test:docs` installs.
      { test: { ...unit, name: 'docs', include: ['tools/test/*.docs.test.ts'], testTimeout: 600_000 } },
      // Recipes and nodes for programs of others, whose packages only `pnpm test:examples` installs.
      {
        test: {
          ...e2e,
          name: 'examples',
          include: ['e2e/examples/*.test.ts', 'packages/n8n-nodes-earshot/test/*.test.ts'],
        },
      },
      // compose.yaml and the image, in a separate container engine: needs root and Debian.
      {
        test: {
          ...unit,
          name: 'containers',
          include: ['e2e/containers/*.test.ts'],
          testTimeout: 300_000,
        },
      },
    ],
  },
});
