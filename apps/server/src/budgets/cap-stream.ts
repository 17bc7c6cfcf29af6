import { repeat } from '../runtime/worker.ts';
import { StreamEnded, type UpstreamStream } from '../upstream/upstream-stream.ts';
import type { Allowance, InstallationBudget } from './installation-budget.ts';

export interface CapStreamOptions {
  readonly budget: InstallationBudget;
  /** The most that an item may cost. */
  readonly itemUsdMax: number;
  /** How many sources share the remaining budget. */
  readonly sources: () => Promise<number>;
  readonly nowMs: () => number;
  readonly pollIntervalMs?: number;
}

/** A timer cannot wait for a month, and an unconfirmed state may change. */
const retryIntervalMsMax = 3_600_000;
const retryIntervalMs = 60_000;

/**
 * Limits a source's stream to the installation's budget. The stream is closed when the budget is reached, or about to be, and does
 * not open before the next period. The sources share what remains. An upstream that can end its stream after a number of items gets
 * the number that the budget pays for. A stream whose items are free is not limited. While the database cannot be read, an open stream stays open.
 */
export function capStream(upstream: UpstreamStream, options: CapStreamOptions): UpstreamStream {
  const { budget, itemUsdMax, nowMs, pollIntervalMs = 1_000 } = options;
  if (itemUsdMax === 0) return upstream;
  /** Stays set although the rate has since fallen to nothing. */
  let closed: { readonly resetsAt: Date } | null = null;
  const assertNotReached = ({ reached }: Pick<Allowance, 'reached'>) => {
    if (!reached) return;
    if (reached.isSure) closed = reached;
    throw ended(reached.resetsAt, reached.isSure ? reached.resetsAt.getTime() - nowMs() : retryIntervalMs);
  };
  return {
    async *open(start, signal) {
      if (closed && closed.resetsAt.getTime() > nowMs())
        assertNotReached({ reached: { ...closed, isSure: true } });
      const allowance = await budget.read();
      assertNotReached(allowance);
      const itemsMax = Math.floor(allowance.remainingUsd / (await options.sources()) / itemUsdMax);
      if (itemsMax < 1) throw ended(new Date(nowMs() + retryIntervalMs), retryIntervalMs);
      using watch = watchBudget(budget, pollIntervalMs);
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
  const retryAfterMs = Math.min(retryIntervalMsMax, Math.max(0, waitMs));
  return new StreamEnded(
    { kind: 'budget', retryAfterMs, resetsAt },
    "the installation's budget for this period is spent",
  );
}

/** Polls the budget. The signal is aborted once the budget is reached. */
function watchBudget(budget: InstallationBudget, pollIntervalMs: number) {
  const controller = new AbortController();
  let reached: Allowance['reached'] = null;
  const polling = repeat(pollIntervalMs, async () => {
    const allowance = await budget.read();
    if (!allowance.reached || controller.signal.aborted) return;
    reached = allowance.reached;
    controller.abort();
  });
  return {
    signal: controller.signal,
    reached: () => reached,
    [Symbol.dispose]: () => polling[Symbol.dispose](),
  };
}
