import type { Platform } from '@earshot/contract';
import type { Bells } from '../engines/bells.ts';
import type { Database } from '../engines/database.ts';
import type { ItemName } from '../matching/match-store.sql.ts';
import { partitionDays } from '../matching/partitions.ts';
import type { Telemetry } from '../observability/telemetry.ts';
import type { Compliance } from '../upstream/platform.ts';
import { UpstreamUnavailable } from '../upstream/upstream-rules.ts';
import { type RemovalCounts, removeItems } from './remove-items.ts';
import { recordTombstones } from './tombstones.sql.ts';

const postsAtOnceMax = 10_000;

export interface CheckKeptItemsOptions {
  readonly database: Database;
  readonly bells: Bells;
  readonly platform: Platform;
  readonly compliance: Compliance;
  readonly telemetry: Pick<Telemetry, 'complianceCheckPostponed' | 'keptItemsChecked'>;
}

/**
 * Once a day: sends the ids of all kept items to the platform, and removes those that no longer exist there. If it is interrupted or
 * refused, it starts anew the next time.
 */
export async function checkKeptItems(options: CheckKeptItemsOptions, signal: AbortSignal): Promise<void> {
  const { database, bells, platform, compliance, telemetry } = options;
  const done = await database.one(
    `select 1 from compliance_checks where platform = $1 and completed_at > now() - interval '1 day'`,
    [platform],
  );
  if (done) return;
  const sum = { requested: 0, items: 0, matches: 0 };
  try {
    for await (const kept of keptItems(database, platform, compliance.idsMax)) {
      const gone = await compliance.check([...new Set(kept.map(({ id }) => id))], signal);
      const removed = await removeGone(options, kept, gone);
      sum.requested += kept.length;
      sum.items += removed.items;
      sum.matches += removed.matches;
      if (removed.matches > 0) bells.ring('matches');
    }
  } catch (error) {
    if (signal.aborted) return;
    if (!(error instanceof UpstreamUnavailable)) throw error;
    telemetry.complianceCheckPostponed({ platform, err: error });
    return;
  }
  await database.run(
    `insert into compliance_checks (platform, completed_at) values ($1, now())
     on conflict (platform) do update set completed_at = excluded.completed_at`,
    [platform],
  );
  telemetry.keptItemsChecked({ platform, ...sum });
}

interface KeptItem {
  readonly day: string;
  readonly eventKey: string;
  readonly id: string;
}

async function removeGone(
  { database, platform }: CheckKeptItemsOptions,
  kept: readonly KeptItem[],
  gone: Awaited<ReturnType<Compliance['check']>>,
): Promise<RemovalCounts> {
  const sum = { items: 0, matches: 0 };
  for (const [reason, its] of Map.groupBy(gone, (one) => one.reason)) {
    const ids = new Set(its.map(({ id }) => id));
    // The platform names only items that were sent to it.
    const doomed = kept.filter(({ id }) => ids.has(id));
    const names = [...new Set(doomed.map(({ id }) => id))].map(
      (value): ItemName => ({ kind: 'item', value }),
    );
    if (names.length > 0) await recordTombstones(database, names, { on: [platform], reason });
    for (const [day, items] of Map.groupBy(doomed, (item) => item.day)) {
      const keys = items.map(({ eventKey }) => ({ platform, eventKey }));
      const removed = await removeItems(database, day, { items: keys, reason });
      sum.items += removed.items;
      sum.matches += removed.matches;
    }
  }
  return sum;
}

/** All kept items of a platform, in parts of limited size. */
async function* keptItems(
  database: Database,
  platform: Platform,
  atOnceMax: number,
): AsyncGenerator<KeptItem[]> {
  let part: KeptItem[] = [];
  for (const day of await partitionDays(database)) {
    for (let after = '', isDone = false; !isDone; ) {
      const limit = Math.min(postsAtOnceMax, atOnceMax - part.length);
      const rows = await database.many<{ event_key: string; platform_post_id: string }>(
        `select event_key, platform_post_id from posts
         where event_day = $1 and platform = $2 and event_key > $3 order by event_key limit $4`,
        [day, platform, after, limit],
      );
      part.push(...rows.map((row) => ({ day, eventKey: row.event_key, id: row.platform_post_id })));
      after = rows.at(-1)?.event_key ?? after;
      isDone = rows.length < limit;
      if (part.length < atOnceMax) continue;
      yield part;
      part = [];
    }
  }
  if (part.length > 0) yield part;
}
