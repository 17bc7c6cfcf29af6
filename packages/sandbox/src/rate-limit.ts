export type FixedWindow = ReturnType<typeof createFixedWindow>;
export type SlidingWindow = ReturnType<typeof createSlidingWindow>;

interface WindowOptions {
  readonly limit: number;
  readonly windowMs: number;
  readonly nowMs: () => number;
}

/** X counts the calls of a window and starts the next window when it is over (x.md §5.5). */
export function createFixedWindow({ limit, windowMs, nowMs }: WindowOptions) {
  let resetAtMs = 0;
  let used = 0;
  const calls = { made: 0, refused: 0 };
  return {
    /** Calls since the start. */
    count: () => calls,
    take() {
      const now = nowMs();
      if (now >= resetAtMs) {
        resetAtMs = now + windowMs;
        used = 0;
      }
      used += 1;
      calls[used <= limit ? 'made' : 'refused'] += 1;
      return { allowed: used <= limit, limit, remaining: Math.max(0, limit - used), resetAtMs };
    },
  };
}

/** Firehose counts the accepted calls of the last minute (firehose.md §8). */
export function createSlidingWindow({ limit, windowMs, nowMs }: WindowOptions) {
  const taken: number[] = [];
  const calls = { made: 0, refused: 0 };
  return {
    /** Calls since the start. */
    count: () => calls,
    take(): { allowed: true } | { allowed: false; retryAfterMs: number } {
      const now = nowMs();
      while (taken[0] !== undefined && taken[0] <= now - windowMs) taken.shift();
      const oldest = taken[0];
      if (oldest !== undefined && taken.length >= limit) {
        calls.refused += 1;
        return { allowed: false, retryAfterMs: oldest + windowMs - now };
      }
      calls.made += 1;
      taken.push(now);
      return { allowed: true };
    },
  };
}
