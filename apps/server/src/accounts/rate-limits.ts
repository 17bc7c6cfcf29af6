import { Failure } from '../runtime/failure.ts';
import type { Principal } from './call.ts';
import { type Bucket, fullBucket, refill, secondsUntil, takeOne, windowSeconds } from './token-bucket.ts';

export interface RateLimitsOptions {
  /** Requests of one account that this node answers at the same time. */
  readonly inFlightMax: number;
  readonly contact: string;
  readonly nowMs: () => number;
  /** Buckets per policy; a key or account that was forgotten starts with a full one. */
  readonly rememberedMax?: number;
}

export interface Admission {
  /** Sent with every answer, also with a refusal. */
  readonly headers: Readonly<Record<string, string>>;
  readonly refusal: Failure | null;
  /** Call it when the answer was sent or becomes a stream. A second call does nothing. */
  release(): void;
}

export type RateLimits = ReturnType<typeof createRateLimits>;

interface LimitPolicy {
  readonly id: string;
  readonly policy: 'default' | 'account' | 'changes';
  readonly perMinute: number;
}

/**
 * Counted in the memory of this node: no lookup per request, and a flood is refused before it costs anything. With N nodes an
 * account gets up to N times its limits.
 */
export function createRateLimits(options: RateLimitsOptions) {
  const { contact, inFlightMax } = options;
  const buckets = createBuckets(options);
  const inFlight = new Map<string, number>();

  const release = (accountId: string) => {
    const left = (inFlight.get(accountId) ?? 1) - 1;
    if (left === 0) inFlight.delete(accountId);
    else inFlight.set(accountId, left);
  };

  return {
    admit(principal: Principal, { changes }: { readonly changes: boolean }): Admission {
      const { accountId } = principal;
      const counted = policiesOf(principal, changes);
      const running = inFlight.get(accountId) ?? 0;
      const states = counted.map((one) => ({ ...one, bucket: buckets.read(one) }));
      const refuse = (refusal: Failure) => ({
        headers: headersOf(states),
        refusal,
        release: () => undefined,
      });
      const empty = states.find(({ bucket }) => takeOne(bucket) === null);
      if (empty) return refuse(tooMany(empty, contact));
      if (running >= inFlightMax) return refuse(tooManyAtOnce(inFlightMax, contact));
      inFlight.set(accountId, running + 1);
      const after = states.map((one) => ({ ...one, bucket: takeOne(one.bucket) ?? one.bucket }));
      for (const one of after) buckets.write(one, one.bucket);
      let released = false;
      const releaseOnce = () => {
        if (!released) release(accountId);
        released = true;
      };
      return { headers: headersOf(after), refusal: null, release: releaseOnce };
    },
  };
}

/** One key gets at most half of its account's requests, so that a runaway program leaves some for the other keys. */
function policiesOf({ keyId, accountId, limits }: Principal, changes: boolean): LimitPolicy[] {
  return [
    { id: keyId, policy: 'default', perMinute: limits.requests },
    { id: accountId, policy: 'account', perMinute: 2 * limits.requests },
    ...(changes ? [{ id: accountId, policy: 'changes', perMinute: limits.changes } as const] : []),
  ];
}

function createBuckets({ nowMs, rememberedMax = 20_000 }: RateLimitsOptions) {
  const remembered = {
    default: new Map<string, Bucket>(),
    account: new Map<string, Bucket>(),
    changes: new Map<string, Bucket>(),
  };
  return {
    read({ id, policy, perMinute }: LimitPolicy): Bucket {
      const known = remembered[policy].get(id);
      return known ? refill(known, perMinute, nowMs()) : fullBucket(perMinute, nowMs());
    },
    write({ id, policy }: LimitPolicy, bucket: Bucket): void {
      const all = remembered[policy];
      // A map keeps the order of insertion: the least recently used entry comes first.
      all.delete(id);
      all.set(id, bucket);
      const [oldest] = all.size > rememberedMax ? all.keys() : [];
      if (oldest !== undefined) all.delete(oldest);
    },
  };
}

/** In the form of draft-ietf-httpapi-ratelimit-headers-11. */
function headersOf(states: readonly (LimitPolicy & { bucket: Bucket })[]): Record<string, string> {
  return {
    'ratelimit-policy': states
      .map(({ policy, perMinute }) => `"${policy}";q=${perMinute};w=${windowSeconds}`)
      .join(', '),
    ratelimit: states
      .map(({ policy, perMinute, bucket }) => {
        const resetSeconds = secondsUntil(bucket, perMinute, perMinute);
        return `"${policy}";r=${Math.floor(bucket.tokens)};t=${resetSeconds}`;
      })
      .join(', '),
  };
}

const limitDescriptions = {
  default: (limit: number) => `This key may send ${limit} requests per minute`,
  account: (limit: number) => `All keys of the account together may send ${limit} requests per minute`,
  changes: (limit: number) => `The account may make ${limit} changes per minute`,
};

function tooMany({ policy, perMinute, bucket }: LimitPolicy & { bucket: Bucket }, contact: string): Failure {
  const waitSeconds = Math.max(1, secondsUntil(bucket, 1, perMinute));
  return new Failure(
    'resource_exhausted',
    `${limitDescriptions[policy](perMinute)}. Wait ${waitSeconds} s, or ask ${contact} for more.`,
    {
      details: { reason: 'rate_limit', limit: perMinute, used: perMinute, contact },
      retryAfterSeconds: waitSeconds,
    },
  );
}

function tooManyAtOnce(limit: number, contact: string): Failure {
  return new Failure(
    'resource_exhausted',
    `The account has ${limit} requests in progress, which is the maximum. Wait for an answer, or ask ${contact} for more.`,
    { details: { reason: 'concurrency', limit, used: limit, contact }, retryAfterSeconds: 1 },
  );
}

/** Counts one more open stream of the key on this node, until it is disposed. Throws when the key has the maximum. */
export type CountStream = (principal: Principal) => Disposable;

export function createStreamLimit({
  perKeyMax,
  contact,
}: {
  perKeyMax: number;
  contact: string;
}): CountStream {
  const open = new Map<string, number>();
  return ({ keyId }) => {
    const used = open.get(keyId) ?? 0;
    if (used >= perKeyMax) {
      throw new Failure(
        'resource_exhausted',
        `The key has ${used} open streams, which is the maximum. Close one, or ask ${contact} for more.`,
        { details: { reason: 'concurrency', limit: perKeyMax, used, contact }, retryAfterSeconds: 10 },
      );
    }
    open.set(keyId, used + 1);
    return {
      [Symbol.dispose]() {
        const left = (open.get(keyId) ?? 1) - 1;
        if (left === 0) open.delete(keyId);
        else open.set(keyId, left);
      },
    };
  };
}
