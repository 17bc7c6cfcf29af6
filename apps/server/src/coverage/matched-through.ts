import { awaitMatched, type MatchProgress } from '../event-log/await-matched.ts';

const lookAgainMs = 100;

export interface MatchedThrough {
  /** The database's clock. */
  now(): Promise<Date>;
  record(through: Date): Promise<void>;
}

/**
 * Records until when everything that was heard has been matched. Without it, an answer while matching lags would call
 * itself complete, though what was heard still waits in the event log.
 */
export async function recordMatchedThrough(
  { store, progress }: { readonly store: MatchedThrough; readonly progress: MatchProgress },
  signal: AbortSignal,
): Promise<void> {
  // The time first: what is logged after it does not count.
  const through = await store.now();
  await awaitMatched(progress, lookAgainMs, signal);
  if (!signal.aborted) await store.record(through);
}
