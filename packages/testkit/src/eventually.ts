import { setTimeout as sleep } from 'node:timers/promises';

interface EventuallyOptions {
  timeoutMs: number;
  /** By default, the interval grows up to 100 ms. */
  intervalMs?: number;
}

/**
 * Polls until the check returns a truthy value or undefined without throwing, and returns that value.
 * For states that no event announces. A timeout error has the last failure as its cause.
 */
export async function eventually<T>(check: () => T | Promise<T>, options: EventuallyOptions): Promise<T> {
  const startedAt = performance.now();
  for (;;) {
    const outcome = await attempt(check);
    if (outcome.ok) return outcome.value;
    const waitedMs = performance.now() - startedAt;
    if (waitedMs >= options.timeoutMs) {
      const reason = outcome.error instanceof Error ? outcome.error.message : String(outcome.error);
      throw new Error(`timed out after ${options.timeoutMs} ms; last error: ${reason}`, {
        cause: outcome.error,
      });
    }
    await sleep(options.intervalMs ?? patience(waitedMs));
  }
}

/** Starts with short intervals, which grow: each check costs the checked program work. */
const patience = (waitedMs: number) => Math.min(100, Math.max(20, waitedMs / 10));

type Outcome<T> = { ok: true; value: T } | { ok: false; error: unknown };

async function attempt<T>(check: () => T | Promise<T>): Promise<Outcome<T>> {
  try {
    const value = await check();
    // A check that only asserts returns undefined, and throws if it fails.
    if (value || value === undefined) return { ok: true, value };
    return { ok: false, error: new Error(`the check returned ${String(value)}`) };
  } catch (error) {
    return { ok: false, error };
  }
}
