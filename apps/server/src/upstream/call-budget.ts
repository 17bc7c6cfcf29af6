/** The rate limit of an upstream's endpoints. */
export interface CallLimit {
  /** Calls with the same bucket count together. */
  readonly bucket: string;
  readonly calls: number;
  readonly windowMs: number;
}

/**
 * Earshot counts a call when it starts, the platform when it arrives. Calls of a source are sequential, so one call
 * less makes up for the difference. One more is reserved for a call of an earlier holder.
 */
const margin = 2;

/**
 * Start times of a source's recent calls, oldest first. Storing each call, instead of refilling tokens, keeps the
 * limit in every window and still allows a full burst. A call is recorded in the database before it is made, because
 * the limit holds for the credential, whichever node uses it. The platforms' rate limit headers would arrive too late,
 * and Firehose has none.
 */
export type SpentCalls = readonly number[];

export function roomAt({ calls, windowMs }: CallLimit, spent: SpentCalls, nowMs: number): number {
  return Math.max(0, calls - margin - spent.filter((at) => at > nowMs - windowMs).length);
}

/**
 * The limit for all calls except removals after a budget stop. One call in twenty is reserved for these, because each
 * second of delay costs money.
 */
export function withoutReserve(limit: CallLimit): CallLimit {
  return { ...limit, calls: limit.calls - Math.ceil(limit.calls / 20) };
}

/** Number of calls that Earshot may make per window. */
export function callsMax({ calls }: CallLimit): number {
  return calls - margin;
}

/**
 * Number of calls for removals. Accounts cause them by deleting rules, so they get the share of one account and the
 * rest is left to registrations. Beyond that, one call is allowed per fifteenth of the window, with all removals that
 * wait by then.
 */
export function removalRoomAt(
  limit: CallLimit,
  spent: SpentCalls,
  nowMs: number,
  { share, lastRemovalMs }: { share: number; lastRemovalMs: number },
): number {
  const room = roomAt(limit, spent, nowMs);
  const free = Math.floor(room - (1 - share) * limit.calls);
  if (free > 0) return free;
  return room > 0 && nowMs - lastRemovalMs >= limit.windowMs / 15 ? 1 : 0;
}

/** Time until one more call is allowed; 0 if it is allowed now. */
export function waitMsAt(limit: CallLimit, spent: SpentCalls, nowMs: number): number {
  const counting = spent.filter((at) => at > nowMs - limit.windowMs);
  const mustLeave = counting[counting.length - (limit.calls - margin)];
  return mustLeave === undefined ? 0 : mustLeave + limit.windowMs - nowMs;
}

export function spend({ windowMs }: CallLimit, spent: SpentCalls, nowMs: number): SpentCalls {
  return [...spent.filter((at) => at > nowMs - windowMs), nowMs];
}

const collectMs = 50;

/**
 * How long to wait for more changes to share a call. With enough calls left, nothing waits. Near the limit, calls are
 * spaced evenly, so that each change waits seconds instead of minutes.
 */
export function collectMsAt(limit: CallLimit, spent: SpentCalls, nowMs: number): number {
  const left = roomAt(limit, spent, nowMs) / limit.calls;
  // With no calls left, collecting is pointless: the caller gets the wait time.
  if (left >= 0.5 || left === 0) return 0;
  if (left >= 0.25) return Math.min(collectMs, limit.windowMs / limit.calls);
  const sinceLast = nowMs - (spent.at(-1) ?? Number.NEGATIVE_INFINITY);
  return Math.max(0, Math.ceil(limit.windowMs / (limit.calls - margin)) - sinceLast);
}

/** Interval between jobs of this many calls, so that they use half of the limit. */
export function apartMsOf(limit: CallLimit, calls: number): number {
  return (2 * calls * limit.windowMs) / limit.calls;
}

/** True if few calls are left, so that background work should leave them to callers. */
export function isShortAt(limit: CallLimit, spent: SpentCalls, nowMs: number): boolean {
  return roomAt(limit, spent, nowMs) < limit.calls / 10;
}
