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

/** A call waits at most this long for its turn; when more is needed, it fails and is tried again later. */
const shortWaitMs = 2_000;

/** So many times are remembered; a time is drawn from a few of them, which follow the upstream's mood. */
const timesMax = 50;
const drawnFrom = 10;

/** What takes the time of calls, and of recording what came of them. */
type Work = 'list' | 'add' | 'remove';

/** One source's budget of rule calls, spent by the holder of its lease. */
export interface Pace {
  /** For every call: waits until the budget allows it and records it, under the lease, before it is made. */
  readonly call: UpstreamCall;
  /** The same on behalf of these accounts: of each slot, whoever waits for it. */
  callFor(accounts: readonly string[]): UpstreamCall;
  /** The same for removals. */
  readonly removal: UpstreamCall;
  /** The same for removals after a budget's stop, for which calls are reserved. */
  readonly stop: UpstreamCall;
  room(kind: CallKind): number;
  /** Calls that removals may use now. */
  removalRoom(): number;
  /** Calls that removals after a stop may use now. */
  stopRoom(): number;
  isShort(kind: CallKind): boolean;
  /** How far apart work of so many calls has to be so that it uses half of them. */
  apartMs(kind: CallKind, calls: number): number;
  collect(kind: CallKind): Promise<void>;
  /** Does work with calls in it, for so many rules, and remembers how long it took per call. */
  timed<Answer>(work: Work, rules: number, run: () => Promise<Answer>): Promise<Answer>;
  /** Spends calls and lets the time of such work go by, or fails as it would, but calls nobody. */
  imitate(work: Work, imitation: Imitation): Promise<void>;
  /** Calls since this was last asked. */
  callsMade(): number;
}

interface Imitation {
  readonly call: UpstreamCall;
  readonly calls: number;
  /** In all of the calls. */
  readonly rules: number;
  /** The last part of the work's time. */
  readonly ending?: () => Promise<void>;
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
  const usual = usualLimits(limits);
  const ask = <Answer>(
    question: (limit: CallLimit, spent: SpentCalls, nowMs: number) => Answer,
    limit: CallLimit,
  ): Answer => question(limit, spentIn.get(limit.bucket) ?? [], performance.now());
  let made = 0;
  let told = 0;
  let removedAt = Number.NEGATIVE_INFINITY;
  let waitedMs = 0;
  const permit = async (limit: CallLimit, accounts: readonly string[] = []) => {
    const waitMs = ask(waitMsAt, limit);
    if (waitMs > shortWaitMs) throw allCallsUsed(waitMs);
    if (waitMs > 0) await pause(waitMs, signal);
    waitedMs += waitMs;
    spentIn.set(limit.bucket, ask(spend, limit));
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
    ...createImitation(
      () => performance.now() - waitedMs,
      () => made,
    ),
    room: (kind) => ask(roomAt, usual[kind]),
    removalRoom: () =>
      ask(
        (...asked) => removalRoomAt(...asked, { share: accountShare, lastRemovalMs: removedAt }),
        usual.change,
      ),
    stopRoom: () => ask(roomAt, limits.change),
    isShort: (kind) => ask(isShortAt, usual[kind]),
    apartMs: (kind, calls) => apartMsOf(usual[kind], calls),
    collect: (kind) => pause(ask(collectMsAt, usual[kind]), signal),
    callsMade() {
      const since = made - told;
      told = made;
      return since;
    },
  };
}

/** What counts together with changes leaves the reserve alone, too. */
function usualLimits({ read, change }: PaceOptions['limits']): PaceOptions['limits'] {
  const usual = withoutReserve(change);
  return { read: read.bucket === change.bucket ? { ...read, calls: usual.calls } : read, change: usual };
}

function allCallsUsed(retryAfterMs: number): UpstreamUnavailable {
  const words = 'all rule calls that the upstream allows at the moment are used';
  return new UpstreamUnavailable(words, { retryAfterMs, notCalled: true });
}

/** `workedMs` is a clock that stands still while a call waits for its turn. */
function createImitation(workedMs: () => number, callsMade: () => number): Pick<Pace, 'timed' | 'imitate'> {
  const times: Record<Work, CallTime[]> = { list: [], add: [], remove: [] };
  const endingsMs: Record<Work, number> = { list: 0, add: 0, remove: 0 };
  /** The latest of calls of about that size. The first thing that a registrar does is to list: there is always a time to draw. */
  const drawMs = (work: Work, rules: number) => {
    const known = times[work].length > 0 ? times[work] : times.list;
    const like = known
      .toSorted((a, b) => Math.abs(a.rules - rules) - Math.abs(b.rules - rules))
      .slice(0, drawnFrom);
    return like[Math.floor(Math.random() * like.length)]?.ms ?? 0;
  };
  return {
    async timed(work, rules, run) {
      const [startedAt, madeBefore] = [workedMs(), callsMade()];
      const answer = await run();
      const calls = callsMade() - madeBefore;
      const one = { rules: rules / calls, ms: (workedMs() - startedAt) / calls };
      if (calls > 0) times[work] = [one, ...times[work]].slice(0, timesMax);
      return answer;
    },
    async imitate(work, { call, calls, rules, ending }) {
      for (let nth = 1; nth <= calls; nth++) {
        const startedAt = workedMs();
        await call.permit('change');
        const endingMs = nth === calls && ending ? endingsMs[work] : 0;
        await pause(
          Math.max(0, drawMs(work, rules / calls) - (workedMs() - startedAt) - endingMs),
          call.signal,
        );
      }
      if (!ending) return;
      const endingAt = workedMs();
      await ending();
      endingsMs[work] = workedMs() - endingAt;
    },
  };
}

interface CallTime {
  readonly rules: number;
  readonly ms: number;
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
