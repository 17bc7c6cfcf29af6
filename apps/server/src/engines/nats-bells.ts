import { type BellName, type Bells, createBellListener } from './bells.ts';
import type { Nats } from './nats.ts';

/** Bells over core NATS: no delivery promise, which is all a wake-up needs. */
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
