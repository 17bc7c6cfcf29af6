import { pause } from '../runtime/worker.ts';

/** How far the event log is written, and how far its events have become matches. */
export interface MatchProgress {
  logged(): Promise<number>;
  matched(): Promise<number>;
}

/** Waits until everything that is in the event log by now has become matches, or the signal is aborted. */
export async function awaitMatched(
  progress: MatchProgress,
  lookEveryMs: number,
  signal: AbortSignal,
): Promise<void> {
  const logged = await progress.logged();
  while (!signal.aborted && (await progress.matched()) < logged) await pause(lookEveryMs, signal);
}
