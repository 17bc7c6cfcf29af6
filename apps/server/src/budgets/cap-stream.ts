import { StreamEnded, type UpstreamStream } from '../upstream/upstream-stream.ts';
import type { Allowance, InstallationBudget } from './installation-budget.ts';

export interface CapStreamOptions {
  readonly budget: InstallationBudget;
  /** The most that an item may cost. */
  readonly itemUsdMax: number;
  /** How many sources share what is left. */
  readonly sources: () => Promise<number>;
  readonly nowMs: () => number;
  readonly lookEveryMs?: number;
}

/** A timer cannot wait for a month, and what was not sure may turn out well. */
const lookAgainMsMax = 3_600_000;
const lookAgainMs = 60_000;

/**
 * The stream of a source as long as the installation's budget lasts: it is closed when that is reached, or would be, and not opened
 * before the next period. What is left is divided among the sources, and an upstream that ends its stream after so many items is
 * told how many are paid for. While the database cannot be read, an open stream stays open.
 */
export function capStream(upstream: UpstreamStream, options: CapStreamOptions): UpstreamStream {
  const { budget, itemUsdMax, nowMs, lookEveryMs = 1_000 } = options;
  /** It stays closed although the rate has fallen to nothing since. */
  let closed: { readonly resetsAt: Date } | null = null;
  const assertNotReached = ({ reached }: Pick<Allowance, 'reached'>) => {
    if (!reached) return;
    if (reached.isSure) closed = reached;
    throw ended(reached.resetsAt, reached.isSure ? reached.resetsAt.getTime() - nowMs() : lookAgainMs);
  };
  return {
    async *open(start, signal) {
      if (closed && closed.resetsAt.getTime() > nowMs())
        assertNotReached({ reached: { ...closed, isSure: true } });
      const allowance = await budget.look();
      assertNotReached(allowance);
      const itemsMax = Math.floor(allowance.remainingUsd / (await options.sources()) / itemUsdMax);
      if (itemsMax < 1) throw ended(new Date(nowMs() + lookAgainMs), lookAgainMs);
      using watch = watchBudget(budget, lookEveryMs);
      try {
        yield* upstream.open({ ...start, itemsMax }, AbortSignal.any([signal, watch.signal]));
      } catch (error) {
        if (!signal.aborted && watch.signal.aborted) assertNotReached({ reached: watch.reached() });
        throw error;
      }
    },
  };
}

function ended(resetsAt: Date, waitMs: number): StreamEnded {
  const retryAfterMs = Math.min(lookAgainMsMax, Math.max(0, waitMs));
  return new StreamEnded(
    { kind: 'budget', retryAfterMs, resetsAt },
    'what the installation may spend in this period is spent',
  );
}

/** Its signal is aborted once the budget is reached. */
function watchBudget(budget: InstallationBudget, lookEveryMs: number) {
  const controller = new AbortController();
  let reached: Allowance['reached'] = null;
  const timer = setInterval(() => {
    budget.look().then(
      (allowance) => {
        if (!allowance.reached || controller.signal.aborted) return;
        reached = allowance.reached;
        controller.abort();
      },
      () => undefined,
    );
  }, lookEveryMs);
  return {
    signal: controller.signal,
    reached: () => reached,
    [Symbol.dispose]: () => clearInterval(timer),
  };
}
