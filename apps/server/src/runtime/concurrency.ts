import { setImmediate as nextTurn } from 'node:timers/promises';

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
 * For loops that compute without awaiting anything, such as explaining a page of matches. Call the returned function
 * between two steps: once this turn of the event loop has lasted 20 ms, it yields, so that requests, streams and lease
 * renewals are not held up.
 */
export function createEventLoopYield(nowMs: () => number = () => performance.now()): () => Promise<void> {
  let turnBeganAt = nowMs();
  return async () => {
    if (nowMs() - turnBeganAt < turnMs) return;
    await nextTurn();
    turnBeganAt = nowMs();
  };
}
