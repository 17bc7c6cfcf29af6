import { ownFailureDelayMs, retryDelayMs } from './delivery-schedule.ts';
import type { Attempt } from './endpoint.ts';

/**
 * How an endpoint is doing. One batch at a time is on its way to it, in the order of the match log. A batch that
 * fails is tried again by the schedule, which is also the circuit breaker: nothing else is sent meanwhile. A batch
 * that is refused is halved; a match that is refused alone, twice, becomes a suspect, and the next one is tried. When
 * that is accepted, the suspects were the culprits and are parked. When a run of them is refused, the endpoint
 * refuses everything: nobody is parked, and the schedule goes on from the first.
 */
export interface EndpointState {
  readonly position: number;
  readonly suspects: readonly number[];
  readonly batchMax: number;
  /** In a row, as far as the endpoint is to blame. */
  readonly failures: number;
  readonly failingSinceMs: number | null;
  readonly nextAttemptMs: number;
  readonly troubled: boolean;
  readonly disabledBecause: 'gone' | 'failing' | null;
}

export interface SentBatch {
  readonly lastPosition: number;
  readonly matchCount: number;
}

export interface Step {
  readonly state: EndpointState;
  /** The same bytes are sent again; otherwise a new batch is made. */
  readonly keepBatch: boolean;
  /** Positions of matches that are given up. */
  readonly parked: readonly number[];
}

export interface Circumstances {
  readonly nowMs: number;
  readonly random: () => number;
}

export const batchMatchesMax = 100;
export const suspectsMax = 5;
const refusedAloneBeforeSuspect = 2;
export const failingMaxMs = 5 * 24 * 3_600_000;
const slowMs = 2_000;

export function afterAttempt(
  state: EndpointState,
  batch: SentBatch,
  attempt: Pick<Attempt, 'verdict' | 'latencyMs'>,
  circumstances: Circumstances,
): Step {
  const { nowMs, random } = circumstances;
  const { verdict } = attempt;
  switch (verdict.kind) {
    case 'delivered':
      return {
        state: {
          position: batch.lastPosition,
          suspects: [],
          batchMax: Math.min(batchMatchesMax, state.batchMax * 2),
          failures: 0,
          failingSinceMs: null,
          nextAttemptMs: nowMs,
          troubled: attempt.latencyMs > slowMs,
          disabledBecause: null,
        },
        keepBatch: false,
        parked: state.suspects,
      };
    case 'refused':
      return afterRefusal(state, batch, circumstances);
    case 'failed':
      return { state: charged(state, verdict.retryAfterMs, circumstances), keepBatch: true, parked: [] };
    case 'gone':
      return { state: { ...state, disabledBecause: 'gone' }, keepBatch: true, parked: [] };
    case 'not_sent': {
      const nextAttemptMs = nowMs + ownFailureDelayMs(random);
      return { state: { ...state, nextAttemptMs }, keepBatch: true, parked: [] };
    }
  }
}

function afterRefusal(state: EndpointState, batch: SentBatch, circumstances: Circumstances): Step {
  const { nowMs } = circumstances;
  const failing = { ...state, failingSinceMs: state.failingSinceMs ?? nowMs, troubled: true };
  if (batch.matchCount > 1) {
    const batchMax = Math.floor(batch.matchCount / 2);
    return { state: { ...failing, batchMax, nextAttemptMs: nowMs }, keepBatch: false, parked: [] };
  }
  const isFirst = state.suspects.length === 0;
  if (isFirst && state.failures + 1 < refusedAloneBeforeSuspect) {
    return { state: charged(state, null, circumstances), keepBatch: true, parked: [] };
  }
  const suspects = [...state.suspects, batch.lastPosition];
  if (suspects.length > suspectsMax) return refusesEverything(state, circumstances);
  return { state: { ...failing, suspects, batchMax: 1, nextAttemptMs: nowMs }, keepBatch: false, parked: [] };
}

/** There is no match behind the suspects that could clear the endpoint: wait for one, and try them again. */
export function afterNothingToTry(state: EndpointState, circumstances: Circumstances): Step {
  return refusesEverything(state, circumstances);
}

function refusesEverything(state: EndpointState, circumstances: Circumstances): Step {
  return {
    state: charged({ ...state, suspects: [], batchMax: 1 }, null, circumstances),
    keepBatch: false,
    parked: [],
  };
}

function charged(
  state: EndpointState,
  retryAfterMs: number | null,
  { nowMs, random }: Circumstances,
): EndpointState {
  const failures = state.failures + 1;
  const failingSinceMs = state.failingSinceMs ?? nowMs;
  return {
    ...state,
    failures,
    failingSinceMs,
    nextAttemptMs: nowMs + retryDelayMs(failures, retryAfterMs, random),
    troubled: true,
    disabledBecause: nowMs - failingSinceMs >= failingMaxMs ? 'failing' : null,
  };
}
