import type { Nats } from './nats.ts';

/**
 * A wake-up between processes. Wake-ups may be lost, so listeners also poll every `timeoutMs`. A lost wake-up delays work and never
 * loses it.
 */
export type BellName = 'slots' | 'slot_outcomes' | 'streams' | 'matches' | 'notices';

export interface Bells {
  ring(name: BellName): void;
  listen(name: BellName): BellListener;
}

export interface BellListener extends Disposable {
  /** Returns at once if the bell rang since the last call, so a ring between a query and this call is not lost. */
  wait(timeoutMs: number, signal: AbortSignal): Promise<void>;
}

/** The part of a listener that needs no network: remembers a ring and wakes waiting callers. */
export function createBellListener(onDispose: () => void) {
  let unseen = false;
  const waiting = new Set<() => void>();
  return {
    /** Calls back at every ring, for callers that never wait. */
    onRing: (wake: () => void): void => {
      waiting.add(wake);
    },
    rang(): void {
      unseen = true;
      for (const wake of waiting) wake();
    },
    wait(timeoutMs: number, signal: AbortSignal): Promise<void> {
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

/** Bells over core NATS. It does not guarantee delivery, which wake-ups do not need. */
export function createBells({ connection }: Nats): Bells {
  const subject = (name: BellName) => `earshot.bell.${name}`;
  return {
    ring(name) {
      if (!connection.isClosed()) connection.publish(subject(name));
    },
    listen(name) {
      const listener = createBellListener(() => subscription.unsubscribe());
      const subscription = connection.subscribe(subject(name), { callback: () => listener.rang() });
      return listener;
    },
  };
}
