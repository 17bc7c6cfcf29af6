import type { CallOptions } from './call.ts';
import type { Calls } from './calls.ts';
import type { Match, Requests } from './contract-types.ts';
import { isRestored, type RemovalListener, type RestoreListener } from './errors.ts';

export interface ConsumeOptions
  extends Pick<CallOptions, 'signal' | 'timeoutMs'>,
    RestoreListener,
    RemovalListener {
  /** Ends after the last stored match, instead of waiting for new ones. */
  readonly untilEmpty?: boolean;
}

const waitSeconds = 30;

/**
 * Reads with a named reader, and acknowledges a page when the loop requests the next one. If the program leaves the loop or
 * crashes, it gets the page again: delivery is at least once. With `limit: 1`, each match is acknowledged separately.
 */
export async function* consumeMatches(
  calls: Pick<Calls, 'readMatches' | 'ackMatches'>,
  request: Requests['ReadMatches'],
  options: ConsumeOptions = {},
): AsyncGenerator<Match, void> {
  const { untilEmpty = false, onRestored, onRemoved, ...callOptions } = options;
  const page = { wait_seconds: untilEmpty ? 0 : waitSeconds, ...request };
  for (;;) {
    const { matches, removed = [], cursor } = await calls.readMatches(page, callOptions);
    yield* matches;
    for (const removal of removed) await onRemoved?.(removal);
    if (cursor === null) {
      if (untilEmpty) return;
      continue;
    }
    try {
      await calls.ackMatches({ reader: request.reader, cursor }, callOptions);
    } catch (error) {
      // Earshot and the reader were restored to an earlier state. The reader continues from there.
      if (!isRestored(error)) throw error;
      onRestored?.(error);
    }
  }
}
