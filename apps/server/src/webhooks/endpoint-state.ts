/** What became of a message: the endpoint's answer, or why there was none. */
export type AttemptOutcome =
  | { readonly kind: 'delivered' }
  /** A 4xx about this very message: another one may be accepted. */
  | { readonly kind: 'refused' }
  | { readonly kind: 'failed'; readonly retryAfterMs: number | null }
  /** 410: the endpoint wants no more messages. */
  | { readonly kind: 'gone' }
  /** Our own network or configuration: not held against the endpoint. */
  | { readonly kind: 'not_sent' };

export interface Attempt {
  readonly outcome: AttemptOutcome;
  readonly status: number | null;
  readonly latencyMs: number;
  /** Why there was no answer. */
  readonly message: string | null;
  /** The first 1 KiB of the answer. */
  readonly response: string | null;
}

/** No key of the service opens the secret of the webhook, so nothing can be signed. */
export const secretUnreadable: Attempt = {
  outcome: { kind: 'not_sent' },
  status: null,
  latencyMs: 0,
  message: 'the signing secret cannot be read by the service',
  response: null,
};

export function outcomeOf(status: number, retryAfterMs: number | null): AttemptOutcome {
  if (status >= 200 && status < 300) return { kind: 'delivered' };
  if (status === 410) return { kind: 'gone' };
  if (status >= 400 && status < 500 && status !== 408 && status !== 429) return { kind: 'refused' };
  return { kind: 'failed', retryAfterMs };
}

/**
 * A chat answers so when its webhook was removed, or nobody may post there any more: a person has to act. Trying on would only
 * count against everybody who posts to that chat from here.
 */
const chatIsGone: ReadonlySet<number | null> = new Set([401, 403, 404]);

export function asAnswerOfChat(attempt: Attempt): Attempt {
  return chatIsGone.has(attempt.status) ? { ...attempt, outcome: { kind: 'gone' } } : attempt;
}

/**
 * How an endpoint is doing. One batch at a time is sent to it, in the order of the match log. A batch that fails is
 * retried after five seconds and then every minute, so that an endpoint that is back is noticed soon; nothing else is sent
 * meanwhile. A batch that is refused is halved; a match that is refused alone, twice, becomes a suspect, and the next one is
 * tried. When that one is accepted, the suspects are to blame and are parked. When a run of suspects is refused, the endpoint
 * refuses everything: nothing is parked, and the retries continue from the first of them.
 */
export interface EndpointState {
  readonly position: number;
  readonly suspects: readonly number[];
  readonly batchMax: number;
  /** Consecutive failures for which the endpoint is to blame. */
  readonly failures: number;
  /** For how long it has been failing; null when it works. */
  readonly failingMs: number | null;
  readonly troubled: boolean;
  readonly disabledReason: 'gone' | 'failing' | null;
}

export interface SentBatch {
  readonly lastPosition: number;
  readonly matchCount: number;
}

export interface Step {
  readonly state: EndpointState;
  /** When it is due again, from now on. The database turns it into a time: the clocks of nodes may differ. */
  readonly retryInMs: number;
  /** The same bytes are sent again; otherwise a new batch is made. */
  readonly keepBatch: boolean;
  /** Positions of matches that are given up. */
  readonly parked: readonly number[];
}

export const batchMatchesMax = 100;
export const suspectsMax = 5;
const refusedAloneBeforeSuspect = 2;
export const failingMaxMs = 5 * 24 * 3_600_000;
const slowMs = 2_000;

export function afterAttempt(
  state: EndpointState,
  batch: SentBatch,
  attempt: Pick<Attempt, 'outcome' | 'latencyMs'>,
  random: () => number,
): Step {
  const { outcome } = attempt;
  switch (outcome.kind) {
    case 'delivered':
      return {
        state: {
          position: batch.lastPosition,
          suspects: [],
          batchMax: Math.min(batchMatchesMax, state.batchMax * 2),
          failures: 0,
          failingMs: null,
          troubled: attempt.latencyMs > slowMs,
          disabledReason: null,
        },
        retryInMs: 0,
        keepBatch: false,
        parked: state.suspects,
      };
    case 'refused':
      return afterRefusal(state, batch, random);
    case 'failed':
      return { ...charged(state, outcome.retryAfterMs, random), keepBatch: true, parked: [] };
    case 'gone':
      return { state: { ...state, disabledReason: 'gone' }, retryInMs: 0, keepBatch: true, parked: [] };
    case 'not_sent':
      return { state, retryInMs: ownFailureDelayMs(random), keepBatch: true, parked: [] };
  }
}

function afterRefusal(state: EndpointState, batch: SentBatch, random: () => number): Step {
  const failing = { ...state, failingMs: state.failingMs ?? 0, troubled: true };
  if (batch.matchCount > 1) {
    // One for a chat may count many more.
    const batchMax = Math.floor(Math.min(batch.matchCount, batchMatchesMax) / 2);
    return { state: { ...failing, batchMax }, retryInMs: 0, keepBatch: false, parked: [] };
  }
  const isFirst = state.suspects.length === 0;
  if (isFirst && state.failures + 1 < refusedAloneBeforeSuspect) {
    return { ...charged(state, null, random), keepBatch: true, parked: [] };
  }
  const suspects = [...state.suspects, batch.lastPosition];
  // Between the listed attempts one later match is enough: an endpoint that refuses everything gets two requests a minute.
  const most = isListed(state.failures + 1) ? suspectsMax : 1;
  if (suspects.length > most) return refusesEverything(state, random);
  return { state: { ...failing, suspects, batchMax: 1 }, retryInMs: 0, keepBatch: false, parked: [] };
}

/** How far an endpoint is with notices. They are sent one by one, before the matches that wait. */
export interface NoticeState {
  readonly position: number;
  readonly refusals: number;
}

export interface NoticeStep {
  readonly state: EndpointState;
  readonly retryInMs: number;
  readonly notice: NoticeState;
  /** When the next notice is due, from now on. */
  readonly noticeInMs: number;
  readonly parked: boolean;
}

/**
 * A failure counts for the endpoint as with matches. A refusal is about this notice alone: it is tried again on the schedule of
 * Standard Webhooks, while matches go on, and parked at its end.
 */
export function afterNotice(
  state: EndpointState,
  notice: NoticeState,
  { position, outcome, latencyMs }: Pick<Attempt, 'outcome' | 'latencyMs'> & { readonly position: number },
  random: () => number,
): NoticeStep {
  const atOnce = { retryInMs: 0, noticeInMs: 0, parked: false };
  const next = { position, refusals: 0 };
  switch (outcome.kind) {
    case 'delivered':
      return { ...atOnce, state: afterDeliveredNotice(state, latencyMs), notice: next };
    case 'refused': {
      const refusals = notice.refusals + 1;
      const waitMs = refusedNoticeWaitsMs[refusals];
      if (waitMs === undefined) return { ...atOnce, state, notice: next, parked: true };
      return { ...atOnce, state, notice: { ...notice, refusals }, noticeInMs: withJitter(waitMs, random) };
    }
    case 'failed':
      return { ...atOnce, ...charged(state, outcome.retryAfterMs, random), notice };
    case 'gone':
      return { ...atOnce, state: { ...state, disabledReason: 'gone' }, notice };
    case 'not_sent':
      return { ...atOnce, state, retryInMs: ownFailureDelayMs(random), notice };
  }
}

/** It is up, so matches are tried at once. Matches that it refuses are another matter. */
function afterDeliveredNotice(state: EndpointState, latencyMs: number): EndpointState {
  if (state.suspects.length > 0) return state;
  return { ...state, failures: 0, failingMs: null, troubled: latencyMs > slowMs };
}

/** There is no match after the suspects that could show whether the endpoint accepts any: retry them like a failed batch. */
export function afterNothingToTry(state: EndpointState, random: () => number): Step {
  return refusesEverything(state, random);
}

function refusesEverything(state: EndpointState, random: () => number): Step {
  return { ...charged({ ...state, suspects: [], batchMax: 1 }, null, random), keepBatch: false, parked: [] };
}

function charged(
  state: EndpointState,
  retryAfterMs: number | null,
  random: () => number,
): Pick<Step, 'state' | 'retryInMs'> {
  const failures = state.failures + 1;
  const failingMs = state.failingMs ?? 0;
  const disabledReason = failingMs >= failingMaxMs ? 'failing' : null;
  return {
    state: { ...state, failures, failingMs, troubled: true, disabledReason },
    retryInMs: retryDelayMs(failures, retryAfterMs, random),
  };
}

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

const firstRetryMs = 5 * second;
const retryMs = minute;
const retryAfterMaxMs = 24 * hour;
const jitter = 0.2;

/** The waits before each attempt that Standard Webhooks recommends: ten attempts in 75 h 35 min 5 s. */
const refusedNoticeWaitsMs = [
  0,
  5 * second,
  5 * minute,
  30 * minute,
  2 * hour,
  5 * hour,
  10 * hour,
  14 * hour,
  20 * hour,
  24 * hour,
];

/** After a failure of our own, for which the endpoint is not to blame: short, and it does not grow. */
const afterOurFailureMs = 15 * second;

/**
 * How long to wait after this many consecutive failures. It does not grow: five days of it are 7,200 requests, and an endpoint
 * that is back waits for a minute at most. `Retry-After` can only make it longer, up to a day.
 */
function retryDelayMs(failures: number, retryAfterMs: number | null, random: () => number): number {
  const waitMs = failures === 1 ? firstRetryMs : retryMs;
  return Math.max(withJitter(waitMs, random), Math.min(retryAfterMs ?? 0, retryAfterMaxMs));
}

/**
 * Of consecutive failures the first three are listed among the deliveries, then about one an hour; one in between only if
 * the answer differs from the one before.
 */
export function isListed(nthFailure: number): boolean {
  return nthFailure <= 3 || nthFailure % 60 === 0;
}

function ownFailureDelayMs(random: () => number): number {
  return withJitter(afterOurFailureMs, random);
}

/** Endpoints that failed together must not all be retried at the same moment. */
function withJitter(ms: number, random: () => number): number {
  return ms * (1 - jitter + 2 * jitter * random());
}
