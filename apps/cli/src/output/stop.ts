import { constants } from 'node:os';

/**
 * Aborts at the first of: a signal that asks us to end, or an output that nobody reads any more (`| head`).
 * Later signals change nothing: the end is under way, and every step of it has a time limit.
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

/** As a shell counts an end by this signal. A reader that has seen enough is no failure. */
export function exitCodeOfStop({ reason }: AbortSignal): number {
  if (reason === 'SIGPIPE') return 0;
  return 128 + (constants.signals[reason as NodeJS.Signals] ?? 0);
}
