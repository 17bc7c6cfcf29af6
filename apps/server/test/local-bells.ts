import { type BellName, type Bells, createBellListener } from '../src/engines/bells.ts';

/** Wake-ups within one process: what core NATS does, without a server. */
export function createLocalBells(): Bells {
  const listeners = new Map<BellName, Set<ReturnType<typeof createBellListener>>>();
  const of = (name: BellName) => {
    const known = listeners.get(name) ?? new Set();
    listeners.set(name, known);
    return known;
  };
  return {
    ring(name) {
      for (const listener of of(name)) listener.rang();
    },
    listen(name) {
      const listener = createBellListener(() => of(name).delete(listener));
      of(name).add(listener);
      return listener;
    },
  };
}
