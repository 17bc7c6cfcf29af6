import { setImmediate as nextTurn } from 'node:timers/promises';

const turnMs = 20;

/**
 * For loops of work without a wait in them, such as explaining a page of matches: called between two steps, it lets
 * requests, streams and lease renewals have their turn when this one has lasted long enough.
 */
export function createBreather(nowMs: () => number = () => performance.now()): () => Promise<void> {
  let turnBeganAt = nowMs();
  return async () => {
    if (nowMs() - turnBeganAt < turnMs) return;
    await nextTurn();
    turnBeganAt = nowMs();
  };
}
