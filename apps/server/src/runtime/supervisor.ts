import type { Logger } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';
import { backoffDelayMs } from './backoff.ts';
import { Failure } from './failure.ts';
import { pause, type Worker } from './worker.ts';

const restart = { firstMs: 200, factor: 2, maxMs: 15_000 };
/** Others wait for this work when the database is up again, so the delay is short. */
const restartWhenAway = { ...restart, maxMs: 2_000 };
const healthyAfterMs = 30_000;

export interface SuperviseOptions {
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Whether the worker ended because PostgreSQL or NATS is down. The connection reports that once for all workers. */
  readonly isOutage: (error: unknown) => boolean;
}

/** Keeps every worker running: one that fails is restarted with back-off while the others keep running. */
export function supervise(workers: readonly Worker[], options: SuperviseOptions): AsyncDisposable {
  const stop = new AbortController();
  const running = workers.map((worker) => keepRunning(worker, stop.signal, options));
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await Promise.all(running);
    },
  };
}

async function keepRunning(
  worker: Worker,
  signal: AbortSignal,
  { log, metrics, isOutage }: SuperviseOptions,
): Promise<void> {
  let attempt = 0;
  while (!signal.aborted) {
    const startedAt = performance.now();
    let backoff = restart;
    try {
      await worker.run(signal);
      if (signal.aborted) return;
      throw new Error('the worker returned although its signal was not aborted');
    } catch (error) {
      const isAway = isOutage(error);
      if (isAway || (error instanceof Failure && error.code === 'unavailable')) backoff = restartWhenAway;
      if (isAway) log.debug({ worker: worker.name, err: error }, 'worker interrupted by an outage');
      else {
        metrics.workerFailures.inc({ worker: worker.name.split(':')[0] ?? worker.name });
        log.error({ worker: worker.name, err: error }, 'worker failed');
      }
    }
    attempt = performance.now() - startedAt > healthyAfterMs ? 1 : attempt + 1;
    await pause(backoffDelayMs(backoff, attempt, Math.random), signal);
  }
}
