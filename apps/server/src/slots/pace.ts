import type { Lease } from '../engines/leases.ts';
import { pause } from '../runtime/worker.ts';
import {
  type CallLimit,
  collectMsAt,
  isShortAt,
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

/** So many call times are remembered: enough for their spread, few enough to follow the upstream's mood. */
const callTimesMax = 50;

/** One source's budget of rule calls, spent by the holder of its lease. */
export interface Pace {
  /** For every call: waits until the budget allows it and records it, under the lease, before it is made. */
  readonly call: UpstreamCall;
  room(kind: CallKind): number;
  isShort(kind: CallKind): boolean;
  collect(kind: CallKind): Promise<void>;
  /** Does work with calls in it, and remembers how long it took per call. */
  timed<Answer>(kind: CallKind, work: () => Promise<Answer>): Promise<Answer>;
  /** Lets the time of such work go by, or fails as it would, without making a call. `ending` is the last part of that time. */
  imitate(kind: CallKind, ending: () => Promise<void>): Promise<void>;
  /** Calls since this was last asked. */
  callsMade(): number;
}

export interface PaceOptions {
  readonly sourceId: string;
  readonly limits: Readonly<Record<CallKind, CallLimit>>;
  readonly store: CallStore;
  readonly random?: () => number;
}

export async function openPace(
  { sourceId, limits, store, random = Math.random }: PaceOptions,
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
  let told = 0;
  let waitedMs = 0;
  /** How long the last `ending` took. */
  let endingMs = 0;
  const timesMs: Record<CallKind, number[]> = { read: [], change: [] };
  const awaitTurn = async (kind: CallKind) => {
    const waitMs = ask(waitMsAt, kind);
    if (waitMs > shortWaitMs) throw allCallsUsed(waitMs);
    if (waitMs > 0) await pause(waitMs, signal);
    waitedMs += waitMs;
  };
  return {
    call: {
      signal,
      async permit(kind) {
        await awaitTurn(kind);
        spentIn.set(limits[kind].bucket, ask(spend, kind));
        await store.recordCall(lease, sourceId, limits[kind]);
        made++;
      },
    },
    async timed(kind, work) {
      const [startedAt, waitedBefore, madeBefore] = [performance.now(), waitedMs, made];
      const answer = await work();
      const tookMs = performance.now() - startedAt - (waitedMs - waitedBefore);
      const count = made - madeBefore;
      if (count > 0) timesMs[kind] = [...timesMs[kind], tookMs / count].slice(-callTimesMax);
      return answer;
    },
    async imitate(kind, ending) {
      await awaitTurn(kind);
      await pause(Math.max(0, drawTime(timesMs, kind, random) - endingMs), signal);
      const endingAt = performance.now();
      await ending();
      endingMs = performance.now() - endingAt;
    },
    room: (kind) => ask(roomAt, kind),
    isShort: (kind) => ask(isShortAt, kind),
    collect: (kind) => pause(ask(collectMsAt, kind), signal),
    callsMade() {
      const since = made - told;
      told = made;
      return since;
    },
  };
}

function allCallsUsed(retryAfterMs: number): UpstreamUnavailable {
  const words = 'all rule calls that the upstream allows at the moment are used';
  return new UpstreamUnavailable(words, { retryAfterMs, notCalled: true });
}

/** The first thing that a registrar does is to read: there is always a time to draw. */
function drawTime(
  timesMs: Readonly<Record<CallKind, readonly number[]>>,
  kind: CallKind,
  random: () => number,
): number {
  const times = timesMs[kind].length > 0 ? timesMs[kind] : timesMs.read;
  return times[Math.floor(random() * times.length)] ?? 0;
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
