/**
 * A wake-up between processes. Ringing is best effort, so whoever waits also looks again after `timeoutMs`:
 * a lost ring costs time and never work.
 */
export type BellName = 'slots' | 'slot_outcomes' | 'streams' | 'matches';

export interface Bells {
  ring(name: BellName): void;
  listen(name: BellName): BellListener;
}

export interface BellListener extends Disposable {
  /** Returns at once if the bell rang since the last call, so nothing falls between a look and a wait. */
  wait(timeoutMs: number, signal: AbortSignal): Promise<void>;
}

/** The part of a listener that needs no network: counts rings, wakes those who wait. */
export function createBellListener(onDispose: () => void): BellListener & { rang(): void } {
  let unseen = false;
  const waiting = new Set<() => void>();
  return {
    rang() {
      unseen = true;
      for (const wake of waiting) wake();
    },
    wait(timeoutMs, signal) {
      if (unseen || signal.aborted) {
        unseen = false;
        return Promise.resolve();
      }
      return new Promise((resolve) => {
        const done = () => {
          clearTimeout(timer);
          signal.removeEventListener('abort', done);
          waiting.delete(done);
          unseen = false;
          resolve();
        };
        const timer = setTimeout(done, timeoutMs);
        signal.addEventListener('abort', done, { once: true });
        waiting.add(done);
      });
    },
    [Symbol.dispose]: onDispose,
  };
}
