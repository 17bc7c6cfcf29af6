/** Waits. If the signal aborts, throws its reason at once. */
export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason);
      return;
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    }, ms);
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

/** Exponential back-off with full jitter, so that clients that failed together do not retry together. */
export function jitteredDelayMs(failures: number, firstMs: number, maxMs: number): number {
  return Math.random() * Math.min(maxMs, firstMs * 2 ** failures);
}
