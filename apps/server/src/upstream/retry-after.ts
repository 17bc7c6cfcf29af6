/** Longer than any upstream's window (x.md §5.2); what a header says beyond that is not believed. */
const waitMaxMs = 15 * 60_000;

/**
 * The wait that an answer asks for: `retry-after` in seconds, or X's `x-rate-limit-reset`. X sends the latter
 * with every answer, so it means something only on a 429.
 */
export function retryAfterMs(
  answer: { statusCode: number; headers: Readonly<Record<string, string | string[] | undefined>> },
  nowMs: number,
): number | null {
  const bounded = (ms: number) => Math.min(waitMaxMs, Math.max(0, ms));
  const after = seconds(answer.headers['retry-after']);
  if (after !== null) return bounded(after * 1_000);
  const reset = answer.statusCode === 429 ? seconds(answer.headers['x-rate-limit-reset']) : null;
  return reset === null ? null : bounded(reset * 1_000 - nowMs);
}

function seconds(header: string | string[] | undefined): number | null {
  return typeof header === 'string' && /^\d+(\.\d+)?$/.test(header) ? Number(header) : null;
}
