/**
 * The periods of the services (keep-alive, rate limit windows, retention) pass `speed` times faster than real time.
 * Timestamps and ids are always wall-clock time, because clients file what they receive by its day.
 */
export interface Clock {
  readonly nowMs: () => number;
  /** A documented period in real milliseconds. */
  realMs(servicePeriodMs: number): number;
  after(servicePeriodMs: number, action: () => void): Cancel;
  every(servicePeriodMs: number, action: () => void): Cancel;
}

export type Cancel = () => void;

export function createClock(speed: number): Clock {
  const realMs = (servicePeriodMs: number) => servicePeriodMs / speed;
  return {
    nowMs: () => Date.now(),
    realMs,
    after(servicePeriodMs, action) {
      const timer = setTimeout(action, realMs(servicePeriodMs)).unref();
      return () => clearTimeout(timer);
    },
    every(servicePeriodMs, action) {
      const timer = setInterval(action, realMs(servicePeriodMs)).unref();
      return () => clearInterval(timer);
    },
  };
}
