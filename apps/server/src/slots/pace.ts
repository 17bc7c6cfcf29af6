import type { Lease } from '../engines/leases.ts';
import { pause } from '../runtime/worker.ts';
import {
  apartMsOf,
  type CallLimit,
  collectMsAt,
  isShortAt,
  removalRoomAt,
  roomAt,
  type SpentCalls,
  spend,
  waitMsAt,
  withoutReserve,
} from '../upstream/call-budget.ts';
import { type CallKind, type UpstreamCall, UpstreamUnavailable } from '../upstream/upstream-rules.ts';
import type { RegistrarStore } from './registrar.sql.ts';

type CallStore = Pick<RegistrarStore, 'callsMade' | 'recordCall'>;

/** The longest wait of a call. If more is needed, the call fails and is retried later. */
const shortWaitMs = 2_000;

/** The budget of rule calls of one source, spent by the holder of its lease. */
export interface Pace {
  /** For every call: waits until the budget allows it, and records it under the lease before it is made. */
  readonly call: UpstreamCall;
  /** The same, charged to these accounts, one per slot. */
  callFor(accounts: readonly string[]): UpstreamCall;
  /** The same for removals. */
  readonly removal: UpstreamCall;
  /** The same for removals after a budget is reached, for which calls are reserved. */
  readonly stop: UpstreamCall;
  room(kind: CallKind): number;
  /** Calls that removals may use now. */
  removalRoom(): number;
  /** Calls that removals after a reached budget may use now. */
  stopRoom(): number;
  isShort(kind: CallKind): boolean;
  /** The interval between pieces of work with so many calls, so that they use half of the budget. */
  apartMs(kind: CallKind, calls: number): number;
  collect(kind: CallKind): Promise<void>;
  /** Calls since the last call of this function. */
  callsMade(): number;
}

export interface PaceOptions {
  readonly sourceId: string;
  readonly limits: Readonly<Record<CallKind, CallLimit>>;
  readonly store: CallStore;
  /** The share of the calls that removals may use before they wait; by default all. */
  readonly accountShare?: number | undefined;
}

export async function openPace(
  { sourceId, limits, store, accountShare = 1 }: PaceOptions,
  lease: Lease,
  signal: AbortSignal,
): Promise<Pace> {
  const spentIn = await spentBefore(store, sourceId, performance.now());
  const usual = usualLimits(limits);
  const compute = <Answer>(
    question: (limit: CallLimit, spent: SpentCalls, nowMs: number) => Answer,
    limit: CallLimit,
  ): Answer => question(limit, spentIn.get(limit.bucket) ?? [], performance.now());
  let made = 0;
  let reported = 0;
  let removedAt = Number.NEGATIVE_INFINITY;
  const permit = async (limit: CallLimit, accounts: readonly string[] = []) => {
    const waitMs = compute(waitMsAt, limit);
    if (waitMs > shortWaitMs) throw allCallsUsed(waitMs);
    if (waitMs > 0) await pause(waitMs, signal);
    spentIn.set(limit.bucket, compute(spend, limit));
    await store.recordCall(lease, sourceId, limit, accounts);
    made++;
  };
  return {
    call: { signal, permit: (kind) => permit(usual[kind]) },
    callFor: (accounts) => ({ signal, permit: (kind) => permit(usual[kind], accounts) }),
    removal: {
      signal,
      async permit(kind) {
        await permit(usual[kind]);
        removedAt = performance.now();
      },
    },
    stop: { signal, permit: (kind) => permit(limits[kind]) },
    room: (kind) => compute(roomAt, usual[kind]),
    removalRoom: () =>
      compute(
        (...given) => removalRoomAt(...given, { share: accountShare, lastRemovalMs: removedAt }),
        usual.change,
      ),
    stopRoom: () => compute(roomAt, limits.change),
    isShort: (kind) => compute(isShortAt, usual[kind]),
    apartMs: (kind, calls) => apartMsOf(usual[kind], calls),
    collect: (kind) => pause(compute(collectMsAt, usual[kind]), signal),
    callsMade() {
      const since = made - reported;
      reported = made;
      return since;
    },
  };
}

/** Limits that count together with changes leave out the reserve, too. */
function usualLimits({ read, change }: PaceOptions['limits']): PaceOptions['limits'] {
  const usual = withoutReserve(change);
  return { read: read.bucket === change.bucket ? { ...read, calls: usual.calls } : read, change: usual };
}

function allCallsUsed(retryAfterMs: number): UpstreamUnavailable {
  const words = 'all rule calls that the upstream allows now are used';
  return new UpstreamUnavailable(words, { retryAfterMs, notCalled: true });
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
