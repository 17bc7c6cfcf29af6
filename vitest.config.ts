import { defineConfig } from 'vitest/config';

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
          globalSetup: ['packages/testkit/src/vitest-engines.ts', 'apps/server/test/vitest-template.ts'],
          testTimeout: 120_000,
          hookTimeout: 120_000,
          maxWorkers: 2,
        },
      },
      {
        test: {
          name: 'e2e',
          include: ['e2e/**/*.e2e.test.ts'],
          globalSetup: ['packages/testkit/src/vitest-engines.ts', 'apps/server/test/vitest-template.ts'],
          testTimeout: 300_000,
          hookTimeout: 120_000,
          maxWorkers: 2,
        },
      },
    ],
  },
});
