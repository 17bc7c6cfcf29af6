import type { Lease } from '../engines/leases.ts';
import { pause } from '../runtime/worker.ts';
import {
  type CallLimit,
  collectMsAt,
  isShortAt,
  removalRoomAt,
  roomAt,
  type SpentCalls,
  spend,
  waitMsAt,
} from '../upstream/call-budget.ts';
import { type CallKind, type UpstreamCall, UpstreamUnavailable } from '../upstream/upstream-rules.ts';
import type { RegistrarStore } from './registrar.sql.ts';

type CallStore = Pick<RegistrarStore, 'callsMade' | 'recordCall'>;

/** A call waits at most this long for its turn; when more is needed, it fails and is tried again later. */
const shortWaitMs = 2_000;

/** One source's budget of rule calls, spent by the holder of its lease. */
export interface Pace {
  /** For every call: waits until the budget allows it and records it, under the lease, before it is made. */
  readonly call: UpstreamCall;
  /** The same on behalf of these accounts, one for each slot. */
  callFor(accounts: readonly string[]): UpstreamCall;
  /** The same for removals. */
  readonly removal: UpstreamCall;
  room(kind: CallKind): number;
  /** Calls that removals may use now. */
  removalRoom(): number;
  isShort(kind: CallKind): boolean;
  collect(kind: CallKind): Promise<void>;
  /** Calls since this was last asked. */
  callsMade(): number;
}

export interface PaceOptions {
  readonly sourceId: string;
  readonly limits: Readonly<Record<CallKind, CallLimit>>;
  readonly store: CallStore;
  /** How much of the calls removals may use before they have to wait; all of them unless it is said. */
  readonly accountShare?: number | undefined;
}

export async function openPace(
  { sourceId, limits, store, accountShare = 1 }: PaceOptions,
  lease: Lease,
  signal: AbortSignal,
): Promise<Pace> {
  const spentIn = await spentBefore(store, sourceId, performance.now());
  const spentFor = (kind: CallKind) => spentIn.get(limits[kind].bucket) ?? [];
  const ask = <Answer>(
    question: (limit: CallLimit, spent: SpentCalls, nowMs: number) => Answer,
    kind: CallKind,
  ): Answer => question(limits[kind], spentFor(kind), performance.now());
  let made = 0;
  let removedAt = Number.NEGATIVE_INFINITY;
  const permit = async (kind: CallKind, accounts: readonly string[] = []) => {
    const waitMs = ask(waitMsAt, kind);
    if (waitMs > shortWaitMs) {
      throw new UpstreamUnavailable('all rule calls that the upstream allows at the moment are used', {
        retryAfterMs: waitMs,
        notCalled: true,
      });
    }
    if (waitMs > 0) await pause(waitMs, signal);
    spentIn.set(limits[kind].bucket, ask(spend, kind));
    await store.recordCall(lease, sourceId, limits[kind], accounts);
    made++;
  };
  return {
    call: { signal, permit: (kind) => permit(kind) },
    callFor: (accounts) => ({ signal, permit: (kind) => permit(kind, accounts) }),
    removal: {
      signal,
      async permit(kind) {
        await permit(kind);
        removedAt = performance.now();
      },
    },
    room: (kind) => ask(roomAt, kind),
    removalRoom: () =>
      removalRoomAt(limits.change, spentFor('change'), performance.now(), {
        share: accountShare,
        lastRemovalMs: removedAt,
      }),
    isShort: (kind) => ask(isShortAt, kind),
    collect: (kind) => pause(ask(collectMsAt, kind), signal),
    callsMade() {
      const before = made;
      made = 0;
      return before;
    },
  };
}

async function spentBefore(
  store: CallStore,
  sourceId: string,
  nowMs: number,
): Promise<Map<string, SpentCalls>> {
  const spentIn = new Map<string, SpentCalls>();
  for (const { bucket, agoMs } of await store.callsMade(sourceId)) {
    spentIn.set(bucket, [...(spentIn.get(bucket) ?? []), nowMs - agoMs]);
  }
  return spentIn;
}
