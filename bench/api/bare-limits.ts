/** Counts requests per minute for a key and its account, in the simplest way. */
const perMinute = 10_000_000;

interface Counter {
  count: number;
  endsAt: number;
}

export function createBareLimits() {
  const counters = new Map<string, Counter>();
  const takeOne = (policy: string, id: string): string => {
    const now = Date.now();
    const key = `${policy} ${id}`;
    const known = counters.get(key);
    const counter = known && known.endsAt > now ? known : { count: 0, endsAt: now + 60_000 };
    counters.set(key, counter);
    counter.count += 1;
    if (counter.count > perMinute) throw Object.assign(new Error('too many requests'), { statusCode: 429 });
    return `"${policy}";r=${perMinute - counter.count};t=${Math.ceil((counter.endsAt - now) / 1_000)}`;
  };
  return {
    /** Counts a request, and returns the rate limit headers. */
    take(keyId: string, accountId: string, changes: boolean): Record<string, string> {
      const left = [takeOne('default', keyId), takeOne('account', accountId)];
      if (changes) left.push(takeOne('changes', accountId));
      return { ratelimit: left.join(', '), 'ratelimit-policy': `"default";q=${perMinute};w=60` };
    },
  };
}
