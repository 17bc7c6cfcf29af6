import { setImmediate as nextTurnOfLoop } from 'node:timers/promises';

/** At most `max` pieces of work at the same time; the others start in the order in which they were asked for. */
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

const turnMs = 20;

/**
 * For loops of the server itself that compute without awaiting anything. Call the returned function between two steps:
 * once this turn of the event loop has lasted 20 ms, it yields, so that requests, streams and lease renewals are not
 * held up.
 */
export function createEventLoopYield(nowMs: () => number = () => performance.now()): () => Promise<void> {
  let turnBeganAt = nowMs();
  return async () => {
    if (nowMs() - turnBeganAt < turnMs) return;
    await nextTurnOfLoop();
    turnBeganAt = nowMs();
  };
}

let sharedTurnBeganAt: number | null = null;
const waiting: (() => void)[] = [];

/**
 * The same for loops that callers cause, such as explaining a page of matches. However many there are, together they get
 * 20 ms of a turn of the event loop, and those that wait go on one after the other.
 */
export function yieldToOthers(): Promise<void> | undefined {
  if (sharedTurnBeganAt === null) {
    sharedTurnBeganAt = performance.now();
    setImmediate(() => void shareTurn());
  }
  if (waiting.length === 0 && performance.now() - sharedTurnBeganAt < turnMs) return undefined;
  return new Promise((resolve) => waiting.push(resolve));
}

async function shareTurn(): Promise<void> {
  const beganAt = performance.now();
  sharedTurnBeganAt = beganAt;
  for (let resume = waiting.shift(); resume !== undefined; resume = waiting.shift()) {
    resume();
    // Its next step runs now, and ends in `yieldToOthers`.
    await Promise.resolve();
    if (performance.now() - beganAt >= turnMs) break;
  }
  if (waiting.length > 0) setImmediate(() => void shareTurn());
  else sharedTurnBeganAt = null;
}
