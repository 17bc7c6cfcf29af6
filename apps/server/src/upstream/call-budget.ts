/** How often an upstream lets its rule endpoints be called. */
export interface CallLimit {
  /** Calls with the same name count together. */
  readonly bucket: string;
  readonly calls: number;
  readonly windowMs: number;
}

/**
 * We count when a call starts, the upstream when it arrives. A source's calls follow each other, so one call less
 * than allowed makes up for the difference; and one more for the call that a former holder has under way.
 */
const margin = 2;

/**
 * The starts of a source's calls, oldest first, as far as they still count. Remembering each of them, instead of
 * refilling tokens, keeps the limit in every window, not only on average, and still allows all of it at once.
 */
export type SpentCalls = readonly number[];

export function roomAt({ calls, windowMs }: CallLimit, spent: SpentCalls, nowMs: number): number {
  return Math.max(0, calls - margin - spent.filter((at) => at > nowMs - windowMs).length);
}

/**
 * The limit of everything but removals after a budget's stop. One call of twenty is kept for these: while everybody else has to
 * wait, each second costs money.
 */
export function withoutReserve(limit: CallLimit): CallLimit {
  return { ...limit, calls: limit.calls - Math.ceil(limit.calls / 20) };
}

/** How many calls one window has for us. */
export function callsMax({ calls }: CallLimit): number {
  return calls - margin;
}

/**
 * How many calls removals may use: they are the doing of whoever deletes, so they get the share of one account, and the
 * rest is left to registrations. Beyond that one may be made in each fifteenth of the window, with everything that is to
 * be removed by then.
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

/** How long until one more call fits; 0 when it does now. */
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
 * How long to wait for more to travel in the same call. While much is left nobody waits; near the end the calls are
 * spaced as the window gives them back, so that somebody's turn comes every few seconds and not after minutes.
 */
export function collectMsAt(limit: CallLimit, spent: SpentCalls, nowMs: number): number {
  const left = roomAt(limit, spent, nowMs) / limit.calls;
  // With nothing left there is nothing to collect for: whoever waits is told so.
  if (left >= 0.5 || left === 0) return 0;
  if (left >= 0.25) return Math.min(collectMs, limit.windowMs / limit.calls);
  const sinceLast = nowMs - (spent.at(-1) ?? Number.NEGATIVE_INFINITY);
  return Math.max(0, Math.ceil(limit.windowMs / (limit.calls - margin)) - sinceLast);
}

/** How far apart work of so many calls has to be so that it uses half of them. */
export function apartMsOf(limit: CallLimit, calls: number): number {
  return (2 * calls * limit.windowMs) / limit.calls;
}

/** Little is left: whatever can wait leaves it to the callers. */
export function isShortAt(limit: CallLimit, spent: SpentCalls, nowMs: number): boolean {
  return roomAt(limit, spent, nowMs) < limit.calls / 10;
}
