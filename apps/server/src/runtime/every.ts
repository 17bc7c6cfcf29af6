import { pause } from './pause.ts';
import type { Worker } from './worker.ts';

/**
 * Periodic work: runs `step` at once, and again `everyMs` after the one before has ended. A step that returns `true`
 * has left work behind, and the next one follows at once.
 */
export function every(
  name: string,
  everyMs: number,
  step: (signal: AbortSignal) => Promise<boolean | void>,
): Worker {
  return {
    name,
    async run(signal) {
      while (!signal.aborted) if ((await step(signal)) !== true) await pause(everyMs, signal);
    },
  };
}
