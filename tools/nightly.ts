import { matchesGlob } from 'node:path';

/** The long tests of one area, and the files whose change requires them. */
export interface Lane {
  readonly guards: readonly string[];
  readonly tests: readonly string[];
  /** Folders with their own packages, which only these tests need. */
  readonly installs?: readonly string[];
}

/**
 * The lanes of `pnpm test:nightly`, by area. `.ci/run` runs the lanes whose guarded files have changed.
 * Every promise also has a short test that always runs.
 */
export const lanes: Readonly<Record<string, Lane>> = {
  pipeline: {
    guards: [
      'apps/server/src/{coverage,engines,event-log,ingest,matching,readers,upstream,webhooks}/**',
      'apps/server/migrations/**',
      'packages/sdk/src/**',
      'e2e/soak/**',
    ],
    tests: [
      'apps/server/test/*.fault.int.test.ts',
      'apps/server/test/{big-batches,reader-completeness}.int.test.ts',
      'apps/server/src/upstream/chunkings.unit.test.ts',
      'e2e/*.fault.e2e.test.ts',
      'e2e/{bluesky,kill,value-change}.e2e.test.ts',
      'e2e/{large-matches,promoted-standby,restore-drill,soak}.nightly.test.ts',
    ],
  },
  rules: {
    guards: [
      'apps/server/src/{alerts,billing,budgets,estimates,rules,slots,upstream}/**',
      'apps/cli/src/rules-file/**',
    ],
    tests: [
      'apps/server/src/alerts/detect.unit.test.ts',
      'apps/server/test/caps.int.test.ts',
      'e2e/{crash-points,registration}.e2e.test.ts',
    ],
  },
  exports: {
    installs: ['e2e/duckdb'],
    guards: ['apps/server/src/{archives,exports}/**', 'apps/cli/src/export/**', 'docs/exports.md'],
    tests: ['e2e/exports.e2e.test.ts', 'e2e/{archives,exports-pages}.nightly.test.ts'],
  },
  query: {
    guards: ['packages/query/**'],
    tests: ['packages/query/test/**/*.unit.test.ts'],
  },
  agents: {
    installs: ['e2e/claude-code', 'e2e/conformance'],
    guards: ['apps/server/src/oauth/**', 'packages/mcp/src/**', 'plugins/**', 'skills/**'],
    tests: ['e2e/{claude-plugin,conformance,mcp-channel,mcp-inspector,oauth-issuer}.nightly.test.ts'],
  },
  documentation: {
    installs: ['docs/site'],
    guards: ['docs/**', 'skills/**', 'README.md', 'tools/docs-site/**', 'apps/cli/src/**'],
    tests: [
      'tools/test/docs-site.docs.test.ts',
      'e2e/{cli-watch,how-to,operations-pages,pages}.nightly.test.ts',
    ],
  },
  doctor: {
    guards: ['apps/cli/src/doctor/**'],
    tests: ['apps/cli/test/doctor{,-process}.nightly.test.ts'],
  },
  console: {
    guards: ['apps/console/**', 'apps/server/src/http/**'],
    tests: ['apps/console/test/*.nightly-browser.test.ts'],
  },
  deployment: {
    guards: ['Dockerfile', 'compose{,.demo}.yaml', 'deploy/**', 'docs/operations/**', 'apps/server/build/**'],
    tests: [
      'e2e/containers/containers.test.ts',
      'apps/server/src/observability/alerts.nightly.test.ts',
      'e2e/{alerts,dashboard,deployed-nats,install-page,operations-backup,operations-failover}.nightly.test.ts',
      'e2e/{pgbouncer,proxy,rotation,runbooks,soak-pages}.nightly.test.ts',
    ],
  },
  contract: {
    installs: ['packages/contract/lint'],
    guards: ['packages/contract/src/**'],
    tests: ['packages/contract/test/openapi-lint.nightly.test.ts'],
  },
  packages: {
    installs: ['examples', 'packages/n8n-nodes-earshot'],
    guards: [
      'examples/**',
      'packages/{n8n-nodes-earshot,sdk}/**',
      'sdks/**',
      'apps/cli/build/**',
      'tools/{release-pack,python-package}.ts',
      '.github/workflows/release.yml',
    ],
    tests: [
      'packages/sdk/test/{browser,package}.nightly.test.ts',
      'e2e/examples/*.test.ts',
      'packages/n8n-nodes-earshot/test/*.test.ts',
      'e2e/packages.nightly.test.ts',
    ],
  },
};

/** The lanes that a change requires: it touches a guarded file or one of the lane's own tests. */
export function lanesFor(changed: readonly string[]): string[] {
  return Object.entries(lanes)
    .filter(([, { guards, tests }]) =>
      changed.some((path) => [...guards, ...tests].some((glob) => matchesGlob(path, glob))),
    )
    .map(([name]) => name);
}
