const lateMs = 2_000;
const readAllWithinMs = 3_000;

/**
 * Detects that the process was suspended, or got no processor. It has heard nothing meanwhile and does not know it: its
 * next look at the clock would cover that time. So `check` must be called on time; after a call that came late nothing
 * is certain until what waited in the socket is read, an end of the connection included.
 */
export function createSuspensionDetector(nowMs: () => number) {
  let lastCheck = nowMs();
  let suspendedSince: number | null = null;
  let certainAt = 0;
  const note = () => {
    const now = nowMs();
    if (now - lastCheck > lateMs) {
      suspendedSince ??= lastCheck;
      certainAt = now + readAllWithinMs;
    }
    lastCheck = now;
    return now;
  };
  return {
    /** To be called regularly. Whether everything up to now was heard. */
    check(): boolean {
      if (note() >= certainAt) suspendedSince = null;
      return suspendedSince === null;
    },
    /** How far back nothing is certain; 0 while everything is. */
    uncertainMs(): number {
      const now = note();
      return suspendedSince === null ? 0 : now - suspendedSince;
    },
  };
}
