/** A protection taken out of the code, and the tests that have to notice. */
export interface Mutation {
  /** What is wrong afterwards. */
  readonly name: string;
  readonly file: string;
  /** Occurs exactly once in the file. */
  readonly find: string;
  readonly replace: string;
  /** The smallest test files that notice. None of them may go anywhere but this machine, also without the protection. */
  readonly tests: readonly string[];
  /** Why no test can notice, where that is so. */
  readonly survives?: string;
}

export type Change = readonly [name: string, find: string, replace: string, survives?: string];

export const inFile = (file: string, tests: readonly string[], changes: readonly Change[]): Mutation[] =>
  changes.map(([name, find, replace, survives]) => ({
    name,
    file,
    find,
    replace,
    tests,
    ...(survives !== undefined && { survives }),
  }));
