export interface Backoff {
  readonly firstMs: number;
  readonly factor: number;
  readonly maxMs: number;
}

/** Exponential with jitter in [½, 1] of the step, so that many nodes do not retry at the same moment. */
export function backoffDelayMs(backoff: Backoff, attempt: number, random: () => number): number {
  const step = Math.min(backoff.maxMs, backoff.firstMs * backoff.factor ** Math.max(0, attempt - 1));
  return Math.round(step * (0.5 + random() / 2));
}
