const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

/** The waits before each attempt that Standard Webhooks recommends: ten attempts in 75 h 35 min 5 s. */
const waitsMs = [
  0,
  5 * second,
  5 * minute,
  30 * minute,
  2 * hour,
  5 * hour,
  10 * hour,
  14 * hour,
  20 * hour,
  24 * hour,
];
const longestWaitMs = 24 * hour;
const jitter = 0.2;

/** After our own failures the endpoint is not to blame: soon again, and always as soon. */
const afterOurFailureMs = 15 * second;

/**
 * How long to wait after so many failures in a row. `Retry-After` can only make it longer, up to a day. Beyond the
 * tenth attempt it stays at a day, until the endpoint answers or is given up.
 */
export function retryDelayMs(failures: number, retryAfterMs: number | null, random: () => number): number {
  const waitMs = waitsMs[failures] ?? longestWaitMs;
  return Math.max(withJitter(waitMs, random), Math.min(retryAfterMs ?? 0, longestWaitMs));
}

export function ownFailureDelayMs(random: () => number): number {
  return withJitter(afterOurFailureMs, random);
}

/** Endpoints that failed together must not all come back at the same moment. */
function withJitter(ms: number, random: () => number): number {
  return ms * (1 - jitter + 2 * jitter * random());
}
