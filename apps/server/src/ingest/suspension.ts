const lateMs = 2_000;
const readAllWithinMs = 3_000;

/**
 * Detects that the process was suspended or had no CPU time. It received nothing meanwhile, and its next proof would
 * wrongly cover that time. Call `check` regularly. After a late call nothing is certain until the data in the socket
 * is read, including an end of the connection.
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
    /** Call it regularly. Returns whether everything up to now was received. */
    check(): boolean {
      if (note() >= certainAt) suspendedSince = null;
      return suspendedSince === null;
    },
    /** Length of the uncertain time before now; 0 if there is none. */
    uncertainMs(): number {
      const now = note();
      return suspendedSince === null ? 0 : now - suspendedSince;
    },
  };
}
