import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Those that take longest, so that none of them is left alone at the end of a run. */
export const longFiles: readonly string[] = ['e2e/crash-points.e2e.test.ts'];

/** Without it a clean checkout runs the largest files first, whatever they take. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const place = ({ moduleId }: TestSpecification) => {
      const index = longFiles.findIndex((path) => moduleId.endsWith(`/${path}`));
      return index === -1 ? longFiles.length : index;
    };
    return sorted.toSorted((a, b) => place(a) - place(b));
  }
}
