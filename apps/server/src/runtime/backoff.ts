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

/** `Retry-After`, in seconds or as a date; null when there is none or it cannot be parsed. */
export function parseRetryAfterMs(header: string | string[] | undefined, nowMs: number): number | null {
  if (typeof header !== 'string') return null;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1_000;
  // `Date.parse` alone parses "-5" as a month.
  const at = /^[A-Z][a-z]{2}, .+ GMT$/.test(header) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(at) ? null : Math.max(0, at - nowMs);
}
