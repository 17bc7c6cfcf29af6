import { type Bucket, fullBucket, refill, secondsUntil, takeOne } from './token-bucket.ts';

/**
 * How many keys that nobody knows an address may try: each costs a look-up, and no account can be charged for it. Only
 * failures count. So many callers who come at once from one address, as after a restart, do not use it up; and guesses
 * that come at once share a look-up.
 */
export interface KeyGuesses {
  /** Null when the address may try a key; else the seconds until it may. */
  waitSeconds(address: string): number | null;
  failed(address: string): void;
}

export interface KeyGuessesOptions {
  readonly perMinute: number;
  readonly nowMs: () => number;
  /** Who was forgotten starts with a full bucket. */
  readonly rememberedMax?: number;
}

export function createKeyGuesses({
  perMinute,
  nowMs,
  rememberedMax = 10_000,
}: KeyGuessesOptions): KeyGuesses {
  const buckets = new Map<string, Bucket>();
  const read = (network: string) => {
    const known = buckets.get(network);
    return known ? refill(known, perMinute, nowMs()) : fullBucket(perMinute, nowMs());
  };
  const write = (network: string, bucket: Bucket) => {
    // A map keeps the order of insertion: the one that was not used for longest comes first.
    buckets.delete(network);
    buckets.set(network, bucket);
    const [oldest] = buckets.size > rememberedMax ? buckets.keys() : [];
    if (oldest !== undefined) buckets.delete(oldest);
  };
  return {
    waitSeconds(address) {
      const bucket = read(networkOf(address));
      return takeOne(bucket) ? null : Math.max(1, secondsUntil(bucket, 1, perMinute));
    },
    failed(address) {
      const network = networkOf(address);
      const bucket = read(network);
      write(network, takeOne(bucket) ?? { ...bucket, tokens: 0 });
    },
  };
}

/** One caller has a whole /64 of IPv6 at hand, and one address of IPv4. */
function networkOf(address: string): string {
  if (!address.includes(':') || address.startsWith('::ffff:')) return address;
  const [start = ''] = address.split('::');
  return start.split(':').slice(0, 4).join(':');
}
