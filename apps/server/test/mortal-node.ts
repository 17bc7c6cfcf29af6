import type { CheckpointLabel } from '../src/runtime/checkpoint.ts';

/** A node that can be killed: from then on it writes nothing and releases nothing. */
export function mortal(dies: (label: CheckpointLabel) => boolean) {
  const died = Promise.withResolvers<CheckpointLabel>();
  let diedAt: CheckpointLabel | null = null;
  return {
    died: died.promise,
    diedAt: () => diedAt,
    checkpoint(label: CheckpointLabel) {
      if (diedAt === null && dies(label)) {
        diedAt = label;
        died.resolve(label);
      }
      if (diedAt !== null) throw new Error('killed');
    },
    /** An object whose calls all fail once the node is dead. */
    store<Store extends object>(store: Store): Store {
      const calls: object = store;
      return new Proxy(store, {
        get:
          (_, name) =>
          async (...given: unknown[]) => {
            if (diedAt !== null) throw new Error('dead');
            return await Reflect.get(calls, name)(...given);
          },
      });
    },
  };
}
