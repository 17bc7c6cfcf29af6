/** Requirements that a machine may lack. Those that CI may lack have the reason. */
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
  /** Debian's, with httpx; `.ci/run` installs both. */
  python: { mayLackInCi: null },
  root: { mayLackInCi: 'who is not root has no other user to become, and nothing to test' },
} as const satisfies Record<string, { readonly mayLackInCi: string | null }>;

export type Need = keyof typeof needs;

/**
 * Options for tests with a requirement. Without it, the tests are skipped with a message. In CI the message would be
 * overlooked, so a skip is an error there unless the table above allows it. A test that is always skipped proves nothing.
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
