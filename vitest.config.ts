import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

/** Workers, and the programs that tests start, load compiled code from here: the server in half the time. */
process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, 'node_modules/.cache/compile');
enableCompileCache(process.env['NODE_COMPILE_CACHE']);

const engines = 'packages/testkit/src/vitest-engines.ts';
const template = 'apps/server/test/vitest-template.ts';
const programs = 'packages/testkit/src/vitest-programs.ts';

/**
 * Three projects, by what they need: `unit` nothing but Node, `int` real engines in one process,
 * `e2e` the whole system as processes. The suffix of the file decides.
 */
export default defineConfig({
  test: {
    projects: [
      { test: { name: 'unit', include: ['{packages,apps,tools,e2e}/**/*.unit.test.ts'] } },
      {
        test: {
          name: 'int',
          include: ['{packages,apps}/**/*.int.test.ts'],
          globalSetup: [engines, template],
          testTimeout: 120_000,
          hookTimeout: 120_000,
          maxWorkers: 2,
        },
      },
      {
        test: {
          name: 'e2e',
          include: ['e2e/**/*.e2e.test.ts'],
          globalSetup: [engines, template, programs],
          testTimeout: 300_000,
          hookTimeout: 120_000,
          maxWorkers: 2,
        },
      },
    ],
  },
});
