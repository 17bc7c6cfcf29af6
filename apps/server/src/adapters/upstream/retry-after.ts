/** Seconds of a `retry-after` header or of X's `x-rate-limit-reset`, as a wait from now. */
export function retryAfterMs(
  headers: Readonly<Record<string, string | string[] | undefined>>,
  nowMs: number,
): number | null {
  const after = Number(headers['retry-after'] ?? Number.NaN);
  if (Number.isFinite(after)) return Math.max(0, after * 1_000);
  const reset = Number(headers['x-rate-limit-reset'] ?? Number.NaN);
  return Number.isFinite(reset) ? Math.max(0, reset * 1_000 - nowMs) : null;
}
