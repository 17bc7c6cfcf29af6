import type { Platform } from '@earshot/contract';
import type { Sql } from '../engines/database.ts';

/*
 * All accounts share the upstream rules and the calls that change them. One account may use at most its share (by default half) of what
 * the others leave, so that another account always finds some left. The first slot and the first call of an account are never refused
 * here. A fixed quota would waste what an account does not use, and the operator would have to guess it.
 */

/** The use of a source by one account and by all accounts. */
export interface SourceUse {
  readonly sourceId: string;
  /** Between 0 and 1. */
  readonly share: number;
  readonly capacity: number;
  readonly slots: number;
  /** Slots that the account holds, alone or with others; null if there is so much room that they need not be counted. */
  readonly ownSlots: number | null;
  /** Calls per window; null if they are not shared out. */
  readonly callsMax: number | null;
  readonly calls: number;
  /** A call that registered rules of several accounts counts as a part for each of them. */
  readonly ownCalls: number;
  readonly ownWaiting: number;
  readonly rulesPerCall: number;
  /** The time until the account's oldest call no longer counts. */
  readonly ownCallEndsMs: number | null;
}

export type ShareRefusal =
  /** The account has its share of the upstream rules. */
  | { readonly kind: 'slots_share'; readonly limit: number; readonly used: number }
  /** The account has used its share of the calls. */
  | { readonly kind: 'calls_share'; readonly waitMs: number };

/** The use of the sources on which a slot can be placed. */
export async function accountUse(sql: Sql, accountId: string, platform: Platform): Promise<SourceUse[]> {
  return await sql.prepared<SourceUse>(
    `select source_id as "sourceId", share, capacity, slots, own_slots as "ownSlots", calls_max as "callsMax", calls,
       own_calls as "ownCalls", own_waiting as "ownWaiting", rules_per_call as "rulesPerCall",
       own_call_ends_ms as "ownCallEndsMs"
     from account_use($1, $2)`,
    [accountId, platform],
  );
}

/** Null if one more slot may be placed, or if no account can place one. `uses` are all sources of a platform. */
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

/** If waiting slots alone use up the share, the wait is unknown. */
const unknownWaitMs = 60_000;

/** 0 if one more slot of the account may be registered on one of these sources. */
export function msUntilCall(uses: readonly SourceUse[]): number {
  if (uses.length === 0 || uses.some(mayCall)) return 0;
  return Math.max(1, Math.min(...uses.map(({ ownCallEndsMs }) => ownCallEndsMs ?? unknownWaitMs)));
}

function allowed(share: number, all: number, usedByOthers: number): number {
  return Math.max(1, Math.ceil(share * (all - usedByOthers)));
}
