import { writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { Reporter, TestCase, TestModule } from 'vitest/node';

/** The results of a test run that CI reports. */
export interface TestResults {
  readonly passed: number;
  /** `file > name: first line of the error` for each failed test, and for files that could not run. */
  readonly failed: readonly string[];
  /** `file > name` for each skipped test. */
  readonly skipped: readonly string[];
  /** Files with the time that their worker spent on them. */
  readonly files: ReadonlyArray<{ readonly file: string; readonly ms: number }>;
}

/** Writes the results to a folder, for `tools/sum-tests.ts`. */
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
    failed: [
      ...inState('failed').map((test) => `${nameOf(test)}: ${firstLine(test.result().errors)}`),
      ...modules
        .filter((module) => module.errors().length > 0)
        .map((module) => `${pathOf(module)}: ${firstLine(module.errors())}`),
    ],
    skipped: inState('skipped').map(nameOf),
    files: modules.map((module) => ({ file: pathOf(module), ms: busyMs(module) })),
  };
}

const nameOf = (test: TestCase) => `${pathOf(test.module)} > ${test.fullName}`;
const firstLine = (errors?: ReadonlyArray<{ message: string }>) =>
  errors?.[0]?.message.split('\n', 1)[0] ?? 'no error';
const pathOf = (module: TestModule) => relative(process.cwd(), module.moduleId);

function busyMs(module: TestModule): number {
  const { prepareDuration, collectDuration, setupDuration, duration } = module.diagnostic();
  return prepareDuration + collectDuration + setupDuration + duration;
}
