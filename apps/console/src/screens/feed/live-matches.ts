import type { Earshot, Match, Removal } from '@earshot/sdk';

export interface Filter {
  readonly rule_id?: string | undefined;
  readonly platform?: 'x' | 'firehose' | undefined;
}

export interface Listener {
  readonly onMatch: (match: Match) => void;
  readonly onRemoved: (removal: Removal) => void;
  /** The service went back to an earlier state: what is shown may not exist any more. */
  readonly onRestored: () => void;
}

const openPollMs = 50;

/**
 * Follows matches while the tab is visible; a hidden one would only fill its memory. When it is seen again, the stream
 * goes on from where it ended. Ends by throwing: the reason of the signal, or what the stream is refused with.
 */
export function followVisible(api: Earshot, filter: Filter, listener: Listener, signal: AbortSignal) {
  const { onMatch, onRemoved, onRestored } = listener;
  let cursor: string | undefined;
  const open = Promise.withResolvers<void>();
  const run = async (): Promise<never> => {
    for (;;) {
      await untilVisible(signal);
      using hidden = abortWhenHidden();
      const ends = AbortSignal.any([signal, hidden.signal]);
      const live = api.followMatches({ ...filter, cursor }, { signal: ends, onRemoved, onRestored });
      // The follower says nothing when its stream is open: its cursor appears.
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
  // Whoever waits for the beginning may have gone when the end comes.
  ended.catch(() => undefined);
  return {
    ended,
    /** The stream is open, so whatever is listed from now on leaves no gap before it. */
    opened: () => Promise.race([open.promise, ended]),
  };
}

function abortWhenHidden() {
  const controller = new AbortController();
  const look = () => document.hidden && controller.abort();
  document.addEventListener('visibilitychange', look);
  return {
    signal: controller.signal,
    [Symbol.dispose]: () => document.removeEventListener('visibilitychange', look),
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
