import { setTimeout as sleep } from 'node:timers/promises';

export interface Backoff {
  readonly firstMs: number;
  readonly factor: number;
  readonly maxMs: number;
}

/** Exponential, with jitter in [½, 1] of the step, so that many nodes do not retry at the same moment. */
export function backoffDelayMs(backoff: Backoff, attempt: number, random: () => number): number {
  const step = Math.min(backoff.maxMs, backoff.firstMs * backoff.factor ** Math.max(0, attempt - 1));
  return Math.round(step * (0.5 + random() / 2));
}

const reportEveryMs = 5_000;

/** Retries until it succeeds or fails permanently. Reports every five seconds that it still waits. */
export async function keepTrying<Result>(
  attempt: () => Promise<Result>,
  options: {
    readonly delayMs: number;
    readonly isForGood: (error: unknown) => boolean;
    readonly onWaiting?: ((error: unknown) => void) | undefined;
  },
): Promise<Result> {
  for (let reportAt = 0; ; ) {
    try {
      return await attempt();
    } catch (error) {
      if (options.isForGood(error)) throw error;
      if (performance.now() >= reportAt) {
        options.onWaiting?.(error);
        reportAt = performance.now() + reportEveryMs;
      }
      await sleep(options.delayMs);
    }
  }
}
