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

const rememberedMax = 10_000;

/**
 * Counts one more use of an id. Null if it is within the limit; else the seconds until the next one is. An id that was forgotten starts
 * with a full bucket.
 */
export function createTakeOne({
  perMinute,
  nowMs,
  rememberedMax: most = rememberedMax,
}: {
  readonly perMinute: number;
  readonly nowMs: () => number;
  readonly rememberedMax?: number | undefined;
}): (id: string) => number | null {
  const buckets = new Map<string, Bucket>();
  return (id) => {
    const known = buckets.get(id);
    const bucket = known ? refill(known, perMinute, nowMs()) : fullBucket(perMinute, nowMs());
    const after = takeOne(bucket);
    // A map keeps the order of insertion: the least recently used entry comes first.
    buckets.delete(id);
    buckets.set(id, after ?? bucket);
    const [oldest] = buckets.size > most ? buckets.keys() : [];
    if (oldest !== undefined) buckets.delete(oldest);
    return after ? null : Math.max(1, secondsUntil(bucket, 1, perMinute));
  };
}
