import { setImmediate as nextTurnOfLoop } from 'node:timers/promises';

/** Runs at most `max` pieces of work at the same time. The others start in the order of the calls. */
export type ConcurrencyLimit = <Result>(work: () => Promise<Result>) => Promise<Result>;

export function createConcurrencyLimit(max: number): ConcurrencyLimit {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (running < max) running += 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      // The next one takes over directly, so that a caller that arrives now cannot overtake it.
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  };
}

/** A separate limit per key, such as an account: heavy callers queue behind their own requests. */
export function createConcurrencyLimits(max: number) {
  const limits = new Map<string, { readonly limit: ConcurrencyLimit; pending: number }>();
  return async <Result>(key: string, work: () => Promise<Result>): Promise<Result> => {
    const entry = limits.get(key) ?? { limit: createConcurrencyLimit(max), pending: 0 };
    limits.set(key, entry);
    entry.pending += 1;
    try {
      return await entry.limit(work);
    } finally {
      entry.pending -= 1;
      if (entry.pending === 0) limits.delete(key);
    }
  };
}

const turnMs = 20;

/**
 * For loops of the server itself that compute without awaiting anything. Call the returned function between two steps. Once this turn of
 * the event loop has lasted 20 ms, it yields, so that requests, streams and lease renewals are not delayed. Undefined means that there is
 * nothing to await yet.
 */
export function createEventLoopYield(
  nowMs: () => number = () => performance.now(),
): () => Promise<void> | undefined {
  let beganAt = nowMs();
  const yieldNow = async () => {
    await nextTurnOfLoop();
    beganAt = nowMs();
  };
  return () => (nowMs() - beganAt < turnMs ? undefined : yieldNow());
}

const sliceMs = 5;
const waiting: (() => void)[] = [];
let isGiving = false;

/**
 * For loops that callers cause, such as explaining a page of matches. Await the returned function before each step. However many such
 * loops there are, together they get 5 ms in each turn of the event loop, one after the other. So a caller with little work does not
 * wait long for callers with much.
 */
export function createTurns(): () => Promise<void> {
  let sliceEndsAt = Number.NEGATIVE_INFINITY;
  return async () => {
    if (performance.now() < sliceEndsAt) return;
    await new Promise<void>((resolve) => {
      waiting.push(resolve);
      if (!isGiving) giveTurnsSoon();
    });
    sliceEndsAt = performance.now() + sliceMs;
  };
}

function giveTurnsSoon(): void {
  isGiving = true;
  setImmediate(() => void giveTurns());
}

async function giveTurns(): Promise<void> {
  const endsAt = performance.now() + sliceMs;
  while (waiting.length > 0 && performance.now() < endsAt) {
    waiting.shift()?.();
    // Runs after all microtasks of the loop: by then its slice is used, or it waits for something else.
    await new Promise<void>((resolve) => process.nextTick(resolve));
  }
  isGiving = false;
  if (waiting.length > 0) giveTurnsSoon();
}
