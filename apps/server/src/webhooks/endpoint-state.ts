/** The result of an attempt: the endpoint's answer, or why there was none. */
export type AttemptOutcome =
  | { readonly kind: 'delivered' }
  /** A 4xx for this message; another one may be accepted. */
  | { readonly kind: 'refused' }
  | { readonly kind: 'failed'; readonly retryAfterMs: number | null }
  /** 410: the endpoint wants no more messages. */
  | { readonly kind: 'gone' }
  /** A failure of Earshot's network or configuration, which does not count against the endpoint. */
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

/** No key of the service decrypts the webhook secret, so nothing can be signed. */
export const secretUnreadable: Attempt = {
  outcome: { kind: 'not_sent' },
  status: null,
  latencyMs: 0,
  message: 'the service cannot read the signing secret',
  response: null,
};

export function outcomeOf(status: number, retryAfterMs: number | null): AttemptOutcome {
  if (status >= 200 && status < 300) return { kind: 'delivered' };
  if (status === 410) return { kind: 'gone' };
  if (status >= 400 && status < 500 && status !== 408 && status !== 429) return { kind: 'refused' };
  return { kind: 'failed', retryAfterMs };
}

/**
 * Statuses with which a chat reports that its webhook was removed or forbidden. A person must act; retries would
 * count against everyone who posts to that chat from here.
 */
const chatIsGone: ReadonlySet<number | null> = new Set([401, 403, 404]);

export function asAnswerOfChat(attempt: Attempt): Attempt {
  return chatIsGone.has(attempt.status) ? { ...attempt, outcome: { kind: 'gone' } } : attempt;
}

/**
 * The state of an endpoint. It gets one batch at a time, in match-log order. A failed batch is retried after 5 s and
 * then every minute; nothing else is sent meanwhile. A refused batch is halved. A match that is refused alone, twice,
 * becomes a suspect, and the next match is tried. If that one is accepted, the suspects are parked. If a run of
 * suspects is refused, the endpoint refuses everything: nothing is parked, and retries continue from the first
 * suspect.
 *
 * The schedule of Standard Webhooks, with waits of hours, is for independent messages. Here all messages wait for the
 * first one, so an endpoint that works again must not wait for hours.
 */
export interface EndpointState {
  readonly position: number;
  readonly suspects: readonly number[];
  readonly batchMax: number;
  /** Consecutive failures that count against the endpoint. */
  readonly failures: number;
  /** How long it has been failing; null if it works. */
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
  /** Delay until the next attempt. The database turns it into a time, because node clocks may differ. */
  readonly retryInMs: number;
  /** If true, the same bytes are sent again; otherwise a new batch is built. */
  readonly keepBatch: boolean;
  /** Positions of parked matches. */
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
    // A chat batch may count many more matches.
    const batchMax = Math.floor(Math.min(batch.matchCount, batchMatchesMax) / 2);
    return { state: { ...failing, batchMax }, retryInMs: 0, keepBatch: false, parked: [] };
  }
  const isFirst = state.suspects.length === 0;
  if (isFirst && state.failures + 1 < refusedAloneBeforeSuspect) {
    return { ...charged(state, null, random), keepBatch: true, parked: [] };
  }
  const suspects = [...state.suspects, batch.lastPosition];
  // Between listed attempts, one later match is enough: an endpoint that refuses everything gets two requests per
  // minute.
  const most = isListed(state.failures + 1) ? suspectsMax : 1;
  if (suspects.length > most) return refusesEverything(state, random);
  return { state: { ...failing, suspects, batchMax: 1 }, retryInMs: 0, keepBatch: false, parked: [] };
}

/** The notice position of an endpoint. Notices are sent one by one, before waiting matches. */
export interface NoticeState {
  readonly position: number;
  readonly refusals: number;
}

export interface NoticeStep {
  readonly state: EndpointState;
  readonly retryInMs: number;
  readonly notice: NoticeState;
  /** Delay until the next notice is due. */
  readonly noticeInMs: number;
  readonly parked: boolean;
}

/**
 * A failure counts as with matches. A refusal concerns only this notice: it is retried on the schedule of Standard
 * Webhooks while matches continue, then parked.
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

/** The endpoint is up, so matches are tried at once. Suspects stay, because refused matches are unrelated. */
function afterDeliveredNotice(state: EndpointState, latencyMs: number): EndpointState {
  if (state.suspects.length > 0) return state;
  return { ...state, failures: 0, failingMs: null, troubled: latencyMs > slowMs };
}

/** No match after the suspects shows whether the endpoint accepts any, so they are retried like a failed batch. */
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

/** The waits that Standard Webhooks recommends: ten attempts in 75 h 35 min 5 s. */
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

/** Wait after a failure of Earshot itself: short and constant. */
const afterOurFailureMs = 15 * second;

/**
 * The wait after this many consecutive failures. It does not grow: five days are 7,200 requests, and a recovered
 * endpoint waits at most a minute. `Retry-After` can only extend it, up to a day.
 */
function retryDelayMs(failures: number, retryAfterMs: number | null, random: () => number): number {
  const waitMs = failures === 1 ? firstRetryMs : retryMs;
  return Math.max(withJitter(waitMs, random), Math.min(retryAfterMs ?? 0, retryAfterMaxMs));
}

/**
 * Lists the first three of consecutive failures, then about one per hour. Others are listed only if the answer
 * changes.
 */
export function isListed(nthFailure: number): boolean {
  return nthFailure <= 3 || nthFailure % 60 === 0;
}

function ownFailureDelayMs(random: () => number): number {
  return withJitter(afterOurFailureMs, random);
}

/** Endpoints that failed at the same time must not be retried at the same time. */
function withJitter(ms: number, random: () => number): number {
  return Math.round(ms * (1 - jitter + 2 * jitter * random()));
}
