import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Those that take longest, so that none of them is left alone at the end of a run. */
export const longFiles: readonly string[] = [
  'apps/server/test/reader-completeness.int.test.ts',
  'apps/server/test/match-order.int.test.ts',
  'packages/query/test/x/canonical.unit.test.ts',
  'packages/query/test/firehose/properties.unit.test.ts',
  'packages/mcp/test/answer-page.unit.test.ts',
  'e2e/crash-points.e2e.test.ts',
  'e2e/connector-crash.fault.e2e.test.ts',
  'apps/server/test/damaged-replica.fault.int.test.ts',
  'apps/server/test/log-chaos.fault.int.test.ts',
  'apps/server/test/webhook-chaos.int.test.ts',
  'apps/server/test/store.fault.int.test.ts',
  'apps/server/test/model/registration.int.test.ts',
  'e2e/demo.e2e.test.ts',
  'e2e/kill.e2e.test.ts',
  'e2e/connector-failover.fault.e2e.test.ts',
  'e2e/rules-as-code.e2e.test.ts',
  'e2e/cli-commands.e2e.test.ts',
  'e2e/cli-tail.e2e.test.ts',
  'e2e/webhooks.e2e.test.ts',
  'e2e/gap.fault.e2e.test.ts',
  'e2e/registration.e2e.test.ts',
];

/** Without it a clean checkout runs the largest files first, whatever they take. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- not an array's
    const sorted = await super.sort(files);
    const place = ({ moduleId }: TestSpecification) => {
      const index = longFiles.findIndex((path) => moduleId.endsWith(`/${path}`));
      return index === -1 ? longFiles.length : index;
    };
    return sorted.toSorted((a, b) => place(a) - place(b));
  }
}
