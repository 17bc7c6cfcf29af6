import { writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { Reporter, TestModule } from 'vitest/node';

/** What CI wants to know of a run of tests. */
export interface TestResults {
  readonly passed: number;
  readonly failed: number;
  /** `file > name` of each. */
  readonly skipped: readonly string[];
  /** Files with how long their worker was busy with them. */
  readonly files: ReadonlyArray<{ readonly file: string; readonly ms: number }>;
}

/** Writes them into a folder, for `tools/sum-tests.ts`. */
export function createTestResults(dir: string): Reporter {
  return {
    onTestRunEnd(modules) {
      writeFileSync(join(dir, `${process.pid}.json`), JSON.stringify(resultsOf(modules)));
    },
  };
}

function resultsOf(modules: readonly TestModule[]): TestResults {
  const tests = modules.flatMap((module) => [...module.children.allTests()]);
  const inState = (state: string) => tests.filter((test) => test.result().state === state);
  return {
    passed: inState('passed').length,
    failed: inState('failed').length,
    skipped: inState('skipped').map((test) => `${pathOf(test.module)} > ${test.fullName}`),
    files: modules.map((module) => ({ file: pathOf(module), ms: busyMs(module) })),
  };
}

const pathOf = (module: TestModule) => relative(process.cwd(), module.moduleId);

function busyMs(module: TestModule): number {
  const { prepareDuration, collectDuration, setupDuration, duration } = module.diagnostic();
  return prepareDuration + collectDuration + setupDuration + duration;
}
