import type { Database } from '../engines/database.ts';
import { every } from '../runtime/worker.ts';
import type { Principal } from './call.ts';
import { openSessions } from './console-sessions.ts';
import { isServed, isValid } from './keys.ts';

/**
 * A key that is revoked or expires, or a session that ends, is noticed within this time. A node also caches a key for some seconds
 * (promise: 5 s in total).
 */
const pollIntervalMs = 1_000;

type WatchedKey = Pick<Principal, 'keyId' | 'sessionId'>;

export type KeyWatch = ReturnType<typeof createKeyWatch>;

/** Closes streams and waiting requests when their key or session stops being valid. One statement checks all that the node watches. */
export function createKeyWatch(database: Database) {
  const watched = new Map<string, Set<AbortController>>();
  return {
    worker: every('key-watch', pollIntervalMs, async () => {
      const ids = [...watched.keys()];
      for (const id of ids.length === 0 ? [] : await invalidOf(database, ids)) {
        for (const controller of watched.get(id) ?? []) controller.abort();
      }
    }),
    /** `ended` is aborted when the key or its session is no longer valid. */
    watch({ keyId, sessionId }: WatchedKey): Disposable & { readonly ended: AbortSignal } {
      const id = sessionId ?? keyId;
      const controller = new AbortController();
      const controllers = watched.get(id) ?? new Set();
      watched.set(id, controllers.add(controller));
      return {
        ended: controller.signal,
        [Symbol.dispose]() {
          controllers.delete(controller);
          if (controllers.size === 0 && watched.get(id) === controllers) watched.delete(id);
        },
      };
    },
  };
}

/** A session is valid as long as its key is, and a key as long as its account is not suspended. */
async function invalidOf(database: Database, ids: readonly string[]): Promise<string[]> {
  const rows = await database.many<{ id: string }>(
    `select watched.id from unnest($1::text[]) as watched (id)
     where not exists (select 1 from api_keys where api_keys.id = watched.id and ${isValid} and ${isServed})
       and not exists (select 1 from ${openSessions} where console_sessions.id = watched.id and ${isServed})`,
    [ids],
  );
  return rows.map((row) => row.id);
}
