/** A share with its 95% interval. */
export interface Share {
  readonly estimate: number;
  readonly low: number;
  readonly high: number;
}

const z = 1.96;

/** Wilson's score interval, which also holds for few samples and for shares near 0 and 1. Null without samples. */
export function wilson(hits: number, samples: number): Share | null {
  if (samples === 0) return null;
  const estimate = hits / samples;
  const spread = z * Math.sqrt((estimate * (1 - estimate)) / samples + z ** 2 / (4 * samples ** 2));
  const centre = estimate + z ** 2 / (2 * samples);
  const scale = 1 + z ** 2 / samples;
  const within = (value: number) => Math.min(1, Math.max(0, value));
  return {
    estimate,
    low: hits === 0 ? 0 : within((centre - spread) / scale),
    high: hits === samples ? 1 : within((centre + spread) / scale),
  };
}

/** The kept part of what is relevant, where `kept` and `rejected` are numbers of matches, and the shares those of relevant ones. */
export function recallOf(
  kept: { readonly count: number; readonly relevant: Share | null },
  rejected: { readonly count: number; readonly relevant: Share | null },
): Share | null {
  if (rejected.count === 0) return kept.relevant && { estimate: 1, low: 1, high: 1 };
  if (!kept.relevant || !rejected.relevant) return null;
  const share = (keptShare: number, rejectedShare: number) => {
    const [found, missed] = [kept.count * keptShare, rejected.count * rejectedShare];
    return found + missed === 0 ? 1 : found / (found + missed);
  };
  return {
    estimate: share(kept.relevant.estimate, rejected.relevant.estimate),
    low: share(kept.relevant.low, rejected.relevant.high),
    high: share(kept.relevant.high, rejected.relevant.low),
  };
}
