import { constants } from 'node:os';

/**
 * Aborts at the first signal to stop, or when an output is closed (`| head`). Later signals change nothing, because every
 * step of the shutdown has a time limit.
 */
export function listenForStop(): AbortController {
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop.abort(signal));
  for (const output of [process.stdout, process.stderr]) output.on('error', () => stop.abort('SIGPIPE'));
  return stop;
}

export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** The exit code of a shell for this signal. A closed output is not a failure. */
export function exitCodeOfStop({ reason }: AbortSignal): number {
  if (reason === 'SIGPIPE') return 0;
  return 128 + (constants.signals[reason as NodeJS.Signals] ?? 0);
}
