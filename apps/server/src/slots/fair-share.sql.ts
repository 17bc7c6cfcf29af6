import type { Platform } from '@earshot/contract';
import type { Sql } from '../engines/database.ts';

/*
 * Upstream rules, and the calls that change them, are shared by all accounts. One account may use at most its share
 * (by default half) of what the others leave of each: so whoever comes next always finds something. The first slot and
 * the first call of an account are never refused here.
 */

/** What one account uses of a source, and what everybody does. */
export interface SourceUse {
  readonly sourceId: string;
  /** Between 0 and 1. */
  readonly share: number;
  readonly capacity: number;
  readonly slots: number;
  /** Calls per window; null when they are not shared out. */
  readonly callsMax: number | null;
  readonly calls: number;
  /** Of a call that registered rules of several accounts, each has its part. */
  readonly ownCalls: number;
  readonly ownWaiting: number;
  readonly rulesPerCall: number;
  /** Until the oldest call of the account no longer counts. */
  readonly ownCallEndsMs: number | null;
}

export interface AccountUse {
  /** Those on which a slot can be placed. */
  readonly sources: readonly SourceUse[];
  /** On all of them; null when there is so much room that they need not be counted. */
  readonly taken: TakenSlots | null;
}

/**
 * What the account holds, and what the others do. A slot that both hold is in both numbers: they are the same as if each had one of its
 * own, so that the account cannot tell.
 */
export interface TakenSlots {
  readonly own: number;
  readonly others: number;
}

export type ShareRefusal =
  /** The account has its share of the upstream's rules. */
  | { readonly kind: 'slots_share'; readonly limit: number; readonly used: number }
  /** The account has used its share of the upstream's calls. */
  | { readonly kind: 'calls_share'; readonly waitMs: number };

export async function accountUse(sql: Sql, accountId: string, platform: Platform): Promise<AccountUse> {
  const rows = await sql.prepared<SourceUse & { own: number | null; others: number | null }>(
    `select source_id as "sourceId", share, capacity, slots, own_slots as own, others_slots as others, calls_max as "callsMax", calls,
       own_calls as "ownCalls", own_waiting as "ownWaiting", rules_per_call as "rulesPerCall",
       own_call_ends_ms as "ownCallEndsMs"
     from account_use($1, $2)`,
    [accountId, platform],
  );
  const { own = null, others = null } = rows[0] ?? {};
  return { sources: rows, taken: own === null || others === null ? null : { own, others } };
}

/** Null when one more slot may be placed, or when there is no room for anybody's. */
export function shareRefusal({ sources, taken }: AccountUse): ShareRefusal | null {
  if (sources.every(({ slots, capacity }) => slots >= capacity)) return null;
  const limit = taken ? slotsAllowed(sources, taken) : Number.POSITIVE_INFINITY;
  if (taken && taken.own >= limit) return { kind: 'slots_share', limit, used: taken.own };
  const waitMs = msUntilCall(sources);
  return waitMs > 0 ? { kind: 'calls_share', waitMs } : null;
}

/** How many slots the account may have on these sources together, which are all of a platform. */
function slotsAllowed(uses: readonly SourceUse[], { others }: TakenSlots): number {
  const capacity = uses.reduce((total, use) => total + use.capacity, 0);
  return allowed(Math.min(...uses.map(({ share }) => share)), capacity, others);
}

/** Whether one more slot of the account may be registered on the source. */
export function mayCall({ share, callsMax, calls, ownCalls, ownWaiting, rulesPerCall }: SourceUse): boolean {
  if (callsMax === null) return true;
  const needed = ownCalls + Math.ceil((ownWaiting + 1) / rulesPerCall);
  return needed <= allowed(share, callsMax, calls - ownCalls);
}

/** Slots that wait for their registration may be all that uses up the share: nobody knows how long that takes. */
const unknownWaitMs = 60_000;

/** 0 when one more slot of the account may be registered on one of these sources. */
export function msUntilCall(uses: readonly SourceUse[]): number {
  if (uses.length === 0 || uses.some(mayCall)) return 0;
  return Math.max(1, Math.min(...uses.map(({ ownCallEndsMs }) => ownCallEndsMs ?? unknownWaitMs)));
}

function allowed(share: number, all: number, usedByOthers: number): number {
  return Math.max(1, Math.ceil(share * (all - usedByOthers)));
}
