/**
 * Waiting periods of the services (keep-alive, windows, retention) run `speed` times faster than real time.
 * Instants never do: everything that leaves the sandbox as a timestamp or id is real wall time, because
 * consumers file events by their day.
 */
export interface Clock {
  readonly nowMs: () => number;
  /** How long a documented period lasts in real milliseconds. */
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
