/** What is left of a limit. Refills evenly over a minute; a full bucket may be used up at once. */
export interface Bucket {
  readonly tokens: number;
  readonly atMs: number;
}

export const windowSeconds = 60;

export function fullBucket(perMinute: number, nowMs: number): Bucket {
  return { tokens: perMinute, atMs: nowMs };
}

export function refill({ tokens, atMs }: Bucket, perMinute: number, nowMs: number): Bucket {
  const gained = (Math.max(0, nowMs - atMs) * perMinute) / (windowSeconds * 1_000);
  return { tokens: Math.min(perMinute, tokens + gained), atMs: nowMs };
}

/** Null when nothing is left. */
export function takeOne({ tokens, atMs }: Bucket): Bucket | null {
  return tokens >= 1 ? { tokens: tokens - 1, atMs } : null;
}

/** Whole seconds until the bucket has `wanted` tokens. */
export function secondsUntil({ tokens }: Bucket, wanted: number, perMinute: number): number {
  return Math.ceil((Math.max(0, wanted - tokens) * windowSeconds) / perMinute);
}
