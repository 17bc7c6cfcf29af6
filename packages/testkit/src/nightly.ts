import { inject, type TestOptions, test } from 'vitest';

/**
 * Whether this is the project `nightly`: full length, on an idle machine, so that time limits in seconds are meaningful.
 * `tools/nightly.ts` lists the files with longer tests, and the sources that they guard.
 */
const isNightly = (): boolean => inject('isNightly');

/** The length of a test: `always` is enough to check the guarantee, `nightly` to trust it. */
export function lengthOf<Length>({ always, nightly }: { always: Length; nightly: Length }): Length {
  return isNightly() ? nightly : always;
}

/** A control, or the long version of a test. It exists only in the nightly run, so other runs skip nothing. */
export function testNightly(name: string, options: TestOptions, run: () => Promise<void>): void {
  const register = isNightly() ? test : () => undefined;
  register(name, options, run);
}
