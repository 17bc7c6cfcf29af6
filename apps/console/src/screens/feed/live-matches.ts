import type { Earshot, Match, Removal } from '@earshot/sdk';
import type { Filter, Hidden } from './feed-state.ts';

export interface Listener {
  readonly onMatch: (match: Match) => void;
  readonly onRemoved: (removal: Removal) => void;
  /** The stream left out so many matches. */
  readonly onHidden: (hidden: Hidden) => void;
  /** The match log was restored to an earlier state, so shown matches may no longer exist. */
  readonly onRestored: () => void;
}

const openPollMs = 50;

/**
 * Follows matches while the tab is visible, because a hidden tab would only fill its memory. When the tab is visible again, the
 * stream continues from its cursor. `ended` rejects with the reason of the signal, or with the error of the stream.
 */
export function followVisible(api: Earshot, filter: Filter, listener: Listener, signal: AbortSignal) {
  const { onMatch, ...others } = listener;
  let cursor: string | undefined;
  const open = Promise.withResolvers<void>();
  const run = async (): Promise<never> => {
    for (;;) {
      await untilVisible(signal);
      using hidden = abortWhenHidden();
      const ends = AbortSignal.any([signal, hidden.signal]);
      const live = api.followMatches({ ...filter, cursor }, { signal: ends, ...others });
      // The SDK has no event for an open stream, but the cursor is set from then on.
      const watch = setInterval(() => {
        if (live.cursor === undefined) return;
        clearInterval(watch);
        open.resolve();
      }, openPollMs);
      try {
        for await (const match of live) onMatch(match);
      } catch (error) {
        if (signal.aborted || !hidden.signal.aborted) throw error;
      } finally {
        clearInterval(watch);
        cursor = live.cursor ?? cursor;
      }
    }
  };
  const ended = run();
  // Prevents an unhandled rejection if the caller no longer waits.
  ended.catch(() => undefined);
  return {
    ended,
    /** Resolves when the stream is open. A list that is requested after that leaves no gap before the stream. */
    opened: () => Promise.race([open.promise, ended]),
  };
}

function abortWhenHidden() {
  const controller = new AbortController();
  const onChange = () => document.hidden && controller.abort();
  document.addEventListener('visibilitychange', onChange);
  return {
    signal: controller.signal,
    [Symbol.dispose]: () => document.removeEventListener('visibilitychange', onChange),
  };
}

function untilVisible(signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    if (!document.hidden) resolve();
    document.addEventListener('visibilitychange', () => document.hidden || resolve(), { signal });
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
