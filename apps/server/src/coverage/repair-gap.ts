import type { Platform } from '@earshot/contract';
import type { Lease } from '../engines/leases.ts';
import type { EventLog } from '../event-log/event-log.ts';
import type { Telemetry } from '../observability/telemetry.ts';
import { pause } from '../runtime/worker.ts';
import { slotTag } from '../slots/slot.ts';
import type { Item } from '../upstream/item.ts';
import type { PostSearch } from '../upstream/platform.ts';
import { readItem } from '../upstream/read-item.ts';
import {
  type AffectedSlot,
  budgetExhausted,
  type Gap,
  type PlannedRepair,
  type RepairProgress,
  type RepairStore,
  type WaitingRepair,
} from './repair-store.sql.ts';

/** The stream delivers some seconds late, so a post from shortly before the gap may have been lost in it. */
export const deliveryDelayMs = 10_000;

export interface RepairGapOptions {
  readonly sourceId: string;
  readonly platform: Platform;
  readonly installation: string;
  readonly search: PostSearch;
  readonly store: RepairStore;
  readonly eventLog: Pick<EventLog, 'append'>;
  readonly telemetry: Telemetry;
  /** Every post that search returns costs money. */
  readonly postsPerDay: number;
  /** For tests: factor by which upstream limits pass faster. */
  readonly pace: number;
  readonly nowMs: () => number;
}

/**
 * Searches the gap for every slot that was registered in it, one page of results at a time. The token of the next
 * page is recorded after the page is in the event log. So a crash repeats at most one page, and duplicates are stored
 * once. Returns false if it must wait because the daily budget is spent.
 */
export async function repairGap(
  options: RepairGapOptions,
  { gap, lease }: { gap: Gap; lease: Lease },
  signal: AbortSignal,
): Promise<boolean> {
  const { store, sourceId, search, nowMs } = options;
  if (!gap.planned) {
    const slots = await store.affectedSlots(sourceId, gap);
    const ageMs = nowMs() - gap.from.getTime();
    await store.plan(
      lease,
      gap,
      slots.map((slot) => planRepair(search, slot, ageMs)),
    );
  }
  for (let next = await store.nextWaiting(gap); next; next = await store.nextWaiting(gap)) {
    if (signal.aborted) return false;
    if (planRepair(search, next, nowMs() - gap.from.getTime()).state === 'impossible') {
      const tooOld = {
        nextToken: null,
        matches: 0,
        state: 'impossible',
        because: 'too_old_to_search',
      } as const;
      await store.recordProgress(lease, gap, next.slotId, tooOld);
      continue;
    }
    const size = Math.min(search.pageSize.max, options.postsPerDay - (await store.spentToday()));
    if (size < search.pageSize.min) {
      await store.recordWaiting(lease, gap, budgetExhausted);
      return false;
    }
    await repairPage(options, { gap, lease, size }, next, signal);
    await pause(search.callIntervalMs / options.pace, signal);
  }
  await store.settle(lease, gap);
  return true;
}

async function repairPage(
  options: RepairGapOptions,
  { gap, lease, size }: { gap: Gap; lease: Lease; size: number },
  repair: WaitingRepair,
  signal: AbortSignal,
): Promise<void> {
  const { store, search, eventLog, telemetry, sourceId, platform, installation } = options;
  const { slotId, value, since, nextToken: token } = repair;
  const from = new Date(Math.max(gap.from.getTime() - deliveryDelayMs, since.getTime()));
  // The tag of the slot, as in a streamed item, so that matching handles both alike.
  const rule = { id: `search:${slotId}`, tag: slotTag(installation, slotId) };
  const page = await search.page({ value, rule, from, to: gap.to, size, token }, signal);
  if (page.kind === 'refused') {
    await store.recordProgress(lease, gap, slotId, afterRefusal(repair));
    telemetry.searchRefused({ sourceId, slotId, words: page.words });
    return;
  }
  await store.recordSpent(page.items.length);
  const found = page.items.flatMap((wire): Item[] => {
    const item = readItem({ platform, sourceId, telemetry }, wire);
    return item ? [{ ...item, via: 'search' }] : [];
  });
  await Promise.all(found.map((item) => eventLog.append(item, null, signal)));
  const state = page.next === null ? 'done' : 'waiting';
  const matches = repair.matches + found.filter((item) => isWithin(gap, item)).length;
  const because = state === 'waiting' && repair.because === startedOver ? startedOver : null;
  await store.recordProgress(lease, gap, slotId, { nextToken: page.next, matches, state, because });
  telemetry.gapSearched({ sourceId, slotId, posts: page.items.length });
}

const startedOver = 'started_over';

/** The page token may have expired during an interruption. The search restarts once. */
function afterRefusal({ nextToken, because }: WaitingRepair): RepairProgress {
  const again = nextToken !== null && because !== startedOver;
  return again
    ? { nextToken: null, matches: 0, state: 'waiting', because: startedOver }
    : { nextToken: null, matches: 0, state: 'impossible', because: 'search_refused' };
}

function isWithin(gap: Gap, { payload }: Item): boolean {
  const at = Date.parse(payload.published_at ?? '');
  return at >= gap.from.getTime() && at <= gap.to.getTime();
}

/**
 * Whether a search can fill the gap for a slot. Slots do not share a query: only the platform decides which rule a
 * post matches (I5).
 */
function planRepair(
  search: Pick<PostSearch, 'reachesBackMs' | 'fidelityOf'>,
  { slotId, value }: AffectedSlot,
  gapAgeMs: number,
): PlannedRepair {
  const impossible = (because: string) =>
    ({ slotId, state: 'impossible', because, fidelity: [] }) satisfies PlannedRepair;
  if (gapAgeMs > search.reachesBackMs) return impossible('too_old_to_search');
  const found = search.fidelityOf(value);
  if (!found.searchable) return impossible(found.because);
  return { slotId, state: 'waiting', because: null, fidelity: found.fidelity };
}
