import type { Platform } from '@earshot/contract';
import type { Bells } from '../engines/bells.ts';
import type { Database } from '../engines/database.ts';
import type { MatchProgress } from '../event-log/log-progress.ts';
import type { ItemName } from '../matching/match-store.sql.ts';
import type { Telemetry } from '../observability/telemetry.ts';
import { removeItems } from './remove-items.ts';
import { recordTombstones } from './tombstones.sql.ts';

const itemsAtOnceMax = 1_000;
/** Far more than are in the event log and not stored yet, unless the database is down for hours. */
const appendedMax = 100_000;

export interface DeletionsOptions {
  /** Of the owner of the tables: only the owner may remove items. */
  readonly database: Database;
  readonly platform: Platform;
  readonly bells: Bells;
  readonly telemetry: Pick<Telemetry, 'deletedItemsRemoved'>;
  readonly progress: MatchProgress;
}

/** A deletion that waits for the next `flush`. */
interface Waiting {
  readonly platformPostId: string;
  readonly removed: PromiseWithResolvers<void>;
}

/**
 * Removes items that their authors delete. The stream reports all deletions, and few are of items that matched. So only
 * those get a tombstone which are stored, or may be in the event log and not stored yet.
 */
export function createDeletions({ database, platform, bells, telemetry, progress }: DeletionsOptions) {
  const waiting = new Map<string, Waiting>();
  const appended = new Set<string>();
  /** The end of the log that another process left. Until it is matched, any item may be in it. */
  let inherited: number | null = null;
  let isInheritedMatched = false;

  async function mayBeInLog(): Promise<boolean> {
    if (isInheritedMatched) return false;
    inherited ??= await progress.logged();
    isInheritedMatched = (await progress.matched()) >= inherited;
    return !isInheritedMatched;
  }

  async function remove(batch: ReadonlyArray<readonly [key: string, Waiting]>): Promise<void> {
    const all = await mayBeInLog();
    const keys = batch.map(([key]) => key);
    const stored = new Set((await storedOf(database, platform, keys)).map(({ key }) => key));
    const doomed = batch.filter(([key]) => all || stored.has(key) || appended.has(key));
    if (doomed.length === 0) return;
    const names = doomed.map(([, { platformPostId }]): ItemName => ({ kind: 'item', value: platformPostId }));
    await recordTombstones(database, names, { on: [platform], reason: 'deleted' });
    // Read again: from the tombstone on, everything that was stored is visible.
    const rows = await storedOf(
      database,
      platform,
      doomed.map(([key]) => key),
    );
    const sum = { items: 0, matches: 0 };
    for (const [day, items] of Map.groupBy(rows, (row) => row.day)) {
      const its = items.map(({ key }) => ({ platform, eventKey: key }));
      const removed = await removeItems(database, day, { items: its, reason: 'deleted' });
      sum.items += removed.items;
      sum.matches += removed.matches;
    }
    if (sum.matches === 0) return;
    bells.ring('matches');
    telemetry.deletedItemsRemoved({ platform, ...sum });
  }

  return {
    appended(key: string): void {
      appended.add(key);
      const [oldest] = appended;
      if (appended.size > appendedMax && oldest !== undefined) appended.delete(oldest);
    },
    async remove({ platformPostId, key }: { platformPostId: string; key: string }): Promise<void> {
      const known = waiting.get(key) ?? { platformPostId, removed: Promise.withResolvers<void>() };
      waiting.set(key, known);
      await known.removed.promise;
    },
    /** Removes what waits. Returns whether more is waiting. */
    async flush(): Promise<boolean> {
      const batch = [...waiting].slice(0, itemsAtOnceMax);
      if (batch.length === 0) return false;
      await remove(batch);
      for (const [key, { removed }] of batch) {
        waiting.delete(key);
        removed.resolve();
      }
      return waiting.size > 0;
    },
  };
}

async function storedOf(
  database: Database,
  platform: Platform,
  keys: readonly string[],
): Promise<Array<{ day: string; key: string }>> {
  return await database.many<{ day: string; key: string }>(
    'select event_day::text as day, event_key as key from posts where platform = $1 and event_key = any($2)',
    [platform, keys],
  );
}
