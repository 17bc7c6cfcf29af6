import { inject, type TestOptions, test } from 'vitest';

/**
 * Whether this is the project `nightly`: everything at full length, on a machine that does nothing else, so that bounds in
 * seconds mean something. `tools/nightly.ts` says which files have more to do there, and what they guard.
 */
const isNightly = (): boolean => inject('isNightly');

/** How much of it: `always` is enough to hold the promise, `nightly` to trust it. */
export function lengthOf<Length>({ always, nightly }: { always: Length; nightly: Length }): Length {
  return isNightly() ? nightly : always;
}

/** A control, or a long version of a test that runs always. Elsewhere it does not exist: nothing is skipped. */
export function testNightly(name: string, options: TestOptions, run: () => Promise<void>): void {
  const register = isNightly() ? test : () => undefined;
  register(name, options, run);
}
