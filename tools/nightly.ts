import { matchesGlob } from 'node:path';

const log = 'apps/server/src/event-log/**';
const pipeline = [
  log,
  'apps/server/src/ingest/**',
  'apps/server/src/matching/**',
  // All but the clients of rules, which carry no items.
  'apps/server/src/upstream/*.ts',
  'apps/server/src/upstream/*/!(rules)*.ts',
];
const ledger = ['apps/server/src/coverage/**', 'apps/server/src/ingest/**'];
const restores = [
  ...pipeline,
  'apps/server/src/readers/**',
  'apps/server/src/webhooks/**',
  'apps/server/migrations/**',
  'e2e/src/{drill,followers}.ts',
];
const leases = ['apps/server/src/engines/leases.ts'];

/**
 * Which test files have more to do in the project `nightly` (controls, chaos, everything at full length), and what they guard:
 * CI runs them whenever such a file has changed since they last passed (`.ci/nightly-passed`). A short version of every
 * promise is in the other projects, and runs always.
 */
export const nightly: Readonly<Record<string, readonly string[]>> = {
  'e2e/soak.nightly.test.ts': [...pipeline, ...ledger, ...leases, 'e2e/soak/**'],
  'e2e/kill.e2e.test.ts': [...pipeline, ...leases],
  'e2e/metering.e2e.test.ts': [
    ...pipeline,
    'apps/server/src/metering/**',
    'apps/server/src/coverage/repair-gap.ts',
  ],
  'e2e/connector-crash.fault.e2e.test.ts': [...pipeline, ...ledger],
  'e2e/connector-failover.fault.e2e.test.ts': [...ledger, ...leases],
  'e2e/gap.fault.e2e.test.ts': ledger,
  'e2e/crash-points.e2e.test.ts': [
    'apps/server/src/rules/**',
    'apps/server/src/slots/**',
    'apps/server/src/runtime/checkpoint.ts',
  ],
  'e2e/fair-shares.e2e.test.ts': ['apps/server/src/slots/**'],
  'e2e/limits.e2e.test.ts': ['apps/server/src/accounts/**', 'apps/server/src/http/{server,handlers}.ts'],
  'e2e/registration.e2e.test.ts': [
    'apps/server/src/slots/**',
    'apps/server/src/upstream/*/rules.ts',
    ...leases,
  ],
  'e2e/quiet-sharing.e2e.test.ts': ['apps/server/src/rules/**', 'apps/server/src/slots/**'],
  'e2e/rules-as-code.e2e.test.ts': ['apps/cli/src/rules-file/**'],
  'e2e/sdk-follower.fault.e2e.test.ts': ['packages/sdk/src/**', 'apps/server/src/readers/**'],
  'apps/server/test/log-chaos.fault.int.test.ts': [log],
  'apps/server/test/damaged-replica.fault.int.test.ts': [log, 'apps/server/src/matching/check-log.ts'],
  'apps/server/test/authentication-timing.int.test.ts': ['apps/server/src/accounts/{authenticate,keys}.ts'],
  'apps/server/test/store.fault.int.test.ts': ['apps/server/src/matching/**', log],
  'e2e/restore-drill.e2e.test.ts': restores,
  'e2e/promoted-standby.nightly.test.ts': restores,
  'e2e/neighbours.e2e.test.ts': [
    'apps/server/migrations/**',
    ...leases,
    log,
    '.ci/previous-version',
    'e2e/src/{previous-version,followers}.ts',
  ],
  'apps/server/test/estimate-accuracy.int.test.ts': [
    'apps/server/src/costs/**',
    'apps/server/src/upstream/x/counts.ts',
    'packages/query/src/x/{counts,search}.ts',
  ],
  'apps/server/test/caps.int.test.ts': [
    'apps/server/src/costs/**',
    'apps/server/src/metering/**',
    'apps/server/src/ingest/cap-stream.ts',
  ],
  'apps/server/test/big-batches.int.test.ts': ['apps/server/src/matching/**'],
  'e2e/value-change.e2e.test.ts': ['apps/server/src/rules/**', 'apps/server/src/slots/**'],
  'e2e/big-list.e2e.test.ts': [
    'apps/server/src/rules/list-rules.ts',
    'apps/server/src/http/{server,handlers}.ts',
  ],
  'packages/query/test/firehose/fuzz.unit.test.ts': ['packages/query/{src,fuzz}/**'],
  'packages/query/test/firehose/lucene.unit.test.ts': ['packages/query/src/**'],
  'packages/query/test/firehose/properties.unit.test.ts': ['packages/query/src/**'],
  'packages/query/test/x/canonical.unit.test.ts': ['packages/query/src/**'],
  'packages/query/test/x/explain.unit.test.ts': ['packages/query/src/**'],
  'packages/query/test/x/fuzz.unit.test.ts': ['packages/query/{src,fuzz}/**'],
  'apps/server/src/upstream/chunkings.unit.test.ts': ['apps/server/src/upstream/**'],
  'apps/server/test/reader-completeness.int.test.ts': [
    'apps/server/src/readers/**',
    'apps/server/src/matching/match-store.sql.ts',
  ],
};

/** The files that a change calls for: those that guard it, and those that were changed themselves. */
export function guardsOf(changed: readonly string[]): string[] {
  return Object.entries(nightly)
    .filter(([file, globs]) =>
      changed.some((path) => path === file || globs.some((glob) => matchesGlob(path, glob))),
    )
    .map(([file]) => file);
}
