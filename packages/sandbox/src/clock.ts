export type Clock = ReturnType<typeof createClock>;

/**
 * The periods of the services (keep-alive, rate limit windows, retention) pass `speed` times faster than real time.
 * Timestamps and ids are always wall-clock time, because clients sort items by day.
 */
export function createClock(speed: number) {
  /** A documented period in real milliseconds. */
  const realMs = (servicePeriodMs: number) => servicePeriodMs / speed;
  return {
    nowMs: () => Date.now(),
    realMs,
    /** Returns a function that cancels it. */
    after(servicePeriodMs: number, action: () => void): () => void {
      const timer = setTimeout(action, realMs(servicePeriodMs)).unref();
      return () => clearTimeout(timer);
    },
    every(servicePeriodMs: number, action: () => void): () => void {
      const timer = setInterval(action, realMs(servicePeriodMs)).unref();
      return () => clearInterval(timer);
    },
  };
}
