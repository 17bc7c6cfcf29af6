import type { Evidence, Judgement } from './detect.ts';

/*
 * ok ──spike──► spiking ──calm──► ok       A notice is raised on the way out of `ok`, and resolved on the way back.
 * ok ──drop───► silent ──active─► ok       A judgement of null (too little coverage) changes nothing.
 *
 * After a notice of a kind, the same kind is raised again after six hours at the earliest, unless a spike has doubled. A spike that
 * doubles while it lasts is raised again too.
 */

export interface AlertState {
  readonly kind: 'ok' | 'spiking' | 'silent';
  /** When the open alert began. Times are Unix milliseconds. */
  readonly sinceMs: number | null;
  readonly spike: Raised | null;
  readonly drop: Raised | null;
  /** When items arrived again after the last drop. */
  readonly activeSinceMs: number | null;
}

/** The last notice of a kind. */
interface Raised {
  readonly atMs: number;
  /** How many times the usual number it reported. */
  readonly times: number;
}

export type AlertStep =
  | {
      readonly kind: 'raise';
      readonly type: 'spike' | 'drop';
      readonly evidence: Evidence;
      readonly sinceMs: number;
      readonly nowMs: number;
      readonly isEscalated: boolean;
    }
  | {
      readonly kind: 'recover';
      readonly type: 'spike' | 'drop';
      readonly sinceMs: number;
      readonly nowMs: number;
    };

export const initialState: AlertState = {
  kind: 'ok',
  sinceMs: null,
  spike: null,
  drop: null,
  activeSinceMs: null,
};

export const coolDownMs = 6 * 3_600_000;
const doubled = 2;

/** Returns the next state, and what is to be reported. `nowMs` is the end of the judged period. */
export function advance(
  state: AlertState,
  judgement: Judgement | null,
  nowMs: number,
): { readonly state: AlertState; readonly step: AlertStep | null } {
  const unchanged = { state, step: null };
  if (judgement === null) return unchanged;
  const { spike, drop, isCalm, isActive } = judgement;
  switch (state.kind) {
    case 'ok':
      if (spike && (!isCooling(state.spike, nowMs) || hasDoubled(state.spike, spike)))
        return raise(state, 'spike', spike, nowMs);
      // A long window still has the silence that is over.
      if (
        drop &&
        !isCooling(state.drop, nowMs) &&
        nowMs - windowMs[drop.window] >= (state.activeSinceMs ?? 0)
      )
        return raise(state, 'drop', drop, nowMs);
      return unchanged;
    case 'spiking':
      if (spike && hasDoubled(state.spike, spike)) return raise(state, 'spike', spike, nowMs);
      return isCalm ? recover(state, 'spike', nowMs) : unchanged;
    case 'silent':
      return isActive ? recover(state, 'drop', nowMs) : unchanged;
  }
}

function isCooling(raised: Raised | null, nowMs: number): boolean {
  return raised !== null && nowMs < raised.atMs + coolDownMs;
}

function timesOf({ got, expected }: Evidence): number {
  return got / Math.max(expected, 0.01);
}

function hasDoubled(raised: Raised | null, evidence: Evidence): boolean {
  return raised !== null && timesOf(evidence) >= doubled * raised.times;
}

export const windowMs: Readonly<Record<Evidence['window'], number>> = {
  '15m': 15 * 60_000,
  '1h': 3_600_000,
  '6h': 6 * 3_600_000,
  '24h': 24 * 3_600_000,
};

function raise(state: AlertState, type: 'spike' | 'drop', evidence: Evidence, nowMs: number) {
  const isEscalated = state.kind !== 'ok';
  const sinceMs = state.sinceMs ?? nowMs - windowMs[evidence.window];
  const raised = { atMs: nowMs, times: timesOf(evidence) };
  const kind = type === 'spike' ? ('spiking' as const) : ('silent' as const);
  return {
    state: { ...state, kind, sinceMs, [type]: raised },
    step: { kind: 'raise', type, evidence, sinceMs, nowMs, isEscalated } as const,
  };
}

function recover(state: AlertState, type: 'spike' | 'drop', nowMs: number) {
  const sinceMs = state.sinceMs ?? nowMs;
  return {
    state: {
      ...state,
      kind: 'ok' as const,
      sinceMs: null,
      activeSinceMs: type === 'drop' ? nowMs : state.activeSinceMs,
    },
    step: { kind: 'recover', type, sinceMs, nowMs } as const,
  };
}
