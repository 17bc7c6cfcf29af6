import type { Database } from '../engines/database.ts';
import { every } from '../runtime/worker.ts';
import { isValid } from './keys.ts';

/**
 * A key that was revoked or has expired is noticed within this time. On top of it come the seconds for which a node
 * remembers a key that it looked up (promise: 5 s together).
 */
const lookEveryMs = 1_000;

export type KeyWatch = ReturnType<typeof createKeyWatch>;

/** Ends what is open with a key that stops being valid: one statement looks up all watched keys of the node. */
export function createKeyWatch(database: Database) {
  const watched = new Map<string, Set<AbortController>>();
  return {
    worker: every('key-watch', lookEveryMs, async () => {
      const keyIds = [...watched.keys()];
      for (const keyId of keyIds.length === 0 ? [] : await invalidOf(database, keyIds)) {
        for (const controller of watched.get(keyId) ?? []) controller.abort();
      }
    }),
    /** `ended` is aborted when the key is no longer valid. */
    watch(keyId: string): Disposable & { readonly ended: AbortSignal } {
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

async function invalidOf(database: Database, keyIds: readonly string[]): Promise<string[]> {
  const rows = await database.many<{ id: string }>(
    `select asked.id from unnest($1::text[]) as asked (id)
     where not exists (select 1 from api_keys where api_keys.id = asked.id and ${isValid})`,
    [keyIds],
  );
  return rows.map((row) => row.id);
}
