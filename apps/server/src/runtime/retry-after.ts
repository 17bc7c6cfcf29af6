/** A header with a number of seconds; null for everything else. */
export function secondsOf(header: string | string[] | undefined): number | null {
  return typeof header === 'string' && /^\d+(\.\d+)?$/.test(header) ? Number(header) : null;
}

/** `Retry-After`, in seconds or as a date; null if it is missing or not valid. */
export function parseRetryAfterMs(header: string | string[] | undefined, nowMs: number): number | null {
  const seconds = secondsOf(header);
  if (seconds !== null) return seconds < 1e9 ? seconds * 1_000 : null;
  // `Date.parse` alone would parse "-5" as a month.
  const isDate = typeof header === 'string' && /^[A-Z][a-z]{2}, .+ GMT$/.test(header);
  const at = isDate ? Date.parse(header) : Number.NaN;
  return Number.isNaN(at) ? null : Math.max(0, at - nowMs);
}
