/** What a machine may lack, and whether CI may do without it: then it says why. */
const needs = {
  /** The right to mount a disk: root, and a container that may. */
  mount: { mayLackInCi: null },
  /** The right to open a network namespace: root, or user namespaces for other users. */
  namespace: { mayLackInCi: null },
  /** Debian's; `.ci/run` installs it. */
  chromium: { mayLackInCi: null },
  /** Debian's, with promtool; `.ci/run` installs it. */
  prometheus: { mayLackInCi: null },
  /** Debian 12's, which the kept pictures of the console are written in. */
  fonts: { mayLackInCi: null },
  root: { mayLackInCi: 'who is not root has no other user to become, and nothing to test' },
} as const satisfies Record<string, { readonly mayLackInCi: string | null }>;

export type Need = keyof typeof needs;

/**
 * Options for a test or a group of tests that need something: skipped where it is missing, and said so. In CI nobody
 * reads that, so there it is an error unless the table above allows it: a test that is always skipped proves nothing.
 */
export function skipUnless(
  need: Need,
  missing: string | null,
  isCi = Boolean(process.env['CI']),
): { readonly skip: boolean } {
  if (missing === null) return { skip: false };
  if (isCi && needs[need].mayLackInCi === null) {
    throw new Error(`CI must not skip what needs ${need}, and it is missing: ${missing}`);
  }
  process.stderr.write(`\n*** SKIPPED, for want of ${need}: ${missing} ***\n\n`);
  return { skip: true };
}
