import { setTimeout as sleep } from 'node:timers/promises';

interface EventuallyOptions {
  timeoutMs: number;
  /** Otherwise longer and longer, 100 ms at most. */
  intervalMs?: number;
}

/**
 * Polls until the check returns something truthy (or nothing at all) without throwing, and returns that.
 * For states that no event announces. The error of a timeout carries the last failure.
 */
export async function eventually<T>(check: () => T | Promise<T>, options: EventuallyOptions): Promise<T> {
  const startedAt = performance.now();
  for (;;) {
    const outcome = await attempt(check);
    if (outcome.ok) return outcome.value;
    const waitedMs = performance.now() - startedAt;
    if (waitedMs >= options.timeoutMs) {
      const reason = outcome.error instanceof Error ? outcome.error.message : String(outcome.error);
      throw new Error(`not so within ${options.timeoutMs} ms; at last: ${reason}`, { cause: outcome.error });
    }
    await sleep(options.intervalMs ?? patience(waitedMs));
  }
}

/** Soon again at first, and ever less often: what is asked computes while it is asked. */
const patience = (waitedMs: number) => Math.min(100, Math.max(20, waitedMs / 10));

type Outcome<T> = { ok: true; value: T } | { ok: false; error: unknown };

async function attempt<T>(check: () => T | Promise<T>): Promise<Outcome<T>> {
  try {
    const value = await check();
    // A check made of assertions returns undefined; it says no by throwing.
    if (value || value === undefined) return { ok: true, value };
    return { ok: false, error: new Error(`the check returned ${String(value)}`) };
  } catch (error) {
    return { ok: false, error };
  }
}
