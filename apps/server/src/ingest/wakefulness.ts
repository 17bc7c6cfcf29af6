/**
 * A process that was stopped, or got no processor, has heard nothing and does not know it: its first look at the
 * clock would cover the time it slept. So every look must come on time; after one that came late nothing is certain
 * until what waited in the socket is read, an end of the connection included.
 */
export interface Wakefulness {
  /** To be called regularly. Whether everything up to now was heard. */
  look(): boolean;
  /** How far back nothing is certain; 0 while awake. */
  asleepMs(): number;
}

const lateMs = 2_000;
const readAllWithinMs = 3_000;

export function createWakefulness(nowMs: () => number): Wakefulness {
  let lastLook = nowMs();
  let asleepSince: number | null = null;
  let certainAt = 0;
  const note = () => {
    const now = nowMs();
    if (now - lastLook > lateMs) {
      asleepSince ??= lastLook;
      certainAt = now + readAllWithinMs;
    }
    lastLook = now;
    return now;
  };
  return {
    look() {
      if (note() >= certainAt) asleepSince = null;
      return asleepSince === null;
    },
    asleepMs() {
      const now = note();
      return asleepSince === null ? 0 : now - asleepSince;
    },
  };
}
