import type { Platform } from '@earshot/contract';
import type { Sql } from '../engines/database.ts';

/*
 * Upstream rules, and the calls that change them, are shared by all accounts. One account may use at most its share
 * (by default half) of what the others leave of each: so whoever comes next always finds something. The first slot and
 * the first call of an account are never refused here.
 */

/** What one account uses of a source, and what all accounts use. */
export interface SourceUse {
  readonly sourceId: string;
  /** Between 0 and 1. */
  readonly share: number;
  readonly capacity: number;
  readonly slots: number;
  /** Slots that the account holds, alone or with others; null when there is so much room that they need not be counted. */
  readonly ownSlots: number | null;
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

export type ShareRefusal =
  /** The account has its share of the upstream's rules. */
  | { readonly kind: 'slots_share'; readonly limit: number; readonly used: number }
  /** The account has used its share of the upstream's calls. */
  | { readonly kind: 'calls_share'; readonly waitMs: number };

/** Of the sources on which a slot can be placed. */
export async function accountUse(sql: Sql, accountId: string, platform: Platform): Promise<SourceUse[]> {
  return await sql.prepared<SourceUse>(
    `select source_id as "sourceId", share, capacity, slots, own_slots as "ownSlots", calls_max as "callsMax", calls,
       own_calls as "ownCalls", own_waiting as "ownWaiting", rules_per_call as "rulesPerCall",
       own_call_ends_ms as "ownCallEndsMs"
     from account_use($1, $2)`,
    [accountId, platform],
  );
}

/** Null when one more slot may be placed, or when no account can place one. These are all sources of a platform. */
export function shareRefusal(uses: readonly SourceUse[]): ShareRefusal | null {
  const capacity = sumOf(uses, (use) => use.capacity);
  const others = sumOf(uses, ({ slots, ownSlots }) => slots - (ownSlots ?? slots));
  const own = sumOf(uses, ({ ownSlots }) => ownSlots ?? 0);
  if (uses.every((use) => use.slots >= use.capacity)) return null;
  const limit = allowed(Math.min(...uses.map(({ share }) => share)), capacity, others);
  if (own >= limit) return { kind: 'slots_share', limit, used: own };
  const waitMs = msUntilCall(uses);
  return waitMs > 0 ? { kind: 'calls_share', waitMs } : null;
}

function sumOf(uses: readonly SourceUse[], count: (use: SourceUse) => number): number {
  return uses.reduce((sum, use) => sum + count(use), 0);
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
