import { every, type Worker } from '../runtime/worker.ts';

/** A key that was revoked or has expired is found out within this time (promise: 5 s). */
const lookEveryMs = 2_000;

export interface WatchedKeys {
  /** Which of these keys work no more. */
  ended(keyIds: readonly string[]): Promise<string[]>;
}

export interface KeyWatch {
  readonly worker: Worker;
  /** Aborted when the key works no more. */
  watch(keyId: string): Disposable & { readonly ended: AbortSignal };
}

/** Answers that go on are cut off with their key: all keys of the node are looked up together. */
export function createKeyWatch(store: WatchedKeys, everyMs: number = lookEveryMs): KeyWatch {
  const watched = new Map<string, Set<AbortController>>();
  return {
    worker: every('key-watch', everyMs, async () => {
      const keyIds = [...watched.keys()];
      for (const keyId of keyIds.length === 0 ? [] : await store.ended(keyIds)) {
        for (const controller of watched.get(keyId) ?? []) controller.abort();
      }
    }),
    watch(keyId) {
      const controller = new AbortController();
      const controllers = watched.get(keyId) ?? new Set();
      watched.set(keyId, controllers.add(controller));
      return {
        ended: controller.signal,
        [Symbol.dispose]() {
          controllers.delete(controller);
          if (controllers.size === 0 && watched.get(keyId) === controllers) watched.delete(keyId);
        },
      };
    },
  };
}
