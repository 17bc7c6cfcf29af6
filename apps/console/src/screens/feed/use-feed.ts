import type { Earshot, Match } from '@earshot/sdk';
import { type Dispatch, useCallback, useEffect, useReducer, useState } from 'react';
import { createApi, isTemporary, useApi } from '../../api/api.tsx';
import {
  emptyFeed,
  type FeedEvent,
  type Filter,
  type Hidden,
  nextFeed,
  type OlderPage,
} from './feed-state.ts';
import { followVisible } from './live-matches.ts';
import type { Connection } from './live-words.ts';

export interface FeedQuery extends Filter {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  /** Lists also the matches that a mute or `relevance` hides. */
  readonly hidden?: 'include' | undefined;
  /** Lists each story once. What arrives is then only counted: a new match changes which match stands for its story. */
  readonly group?: 'story' | undefined;
}

const pageSize = 100;
const flushMs = 250;
const retryMs = 3_000;
/** The list waits this long for the stream to open. */
const openMs = 3_000;

/**
 * The matches of a query, newest first. Loads older matches while `wantsOlder`, and streams new ones unless the range ends in
 * the past. If the query changes or `onRestored` is called, the caller must remount the component with a new key.
 */
export function useFeed(query: FeedQuery, wantsOlder: boolean, onRestored: () => void) {
  const [state, dispatch] = useReducer(nextFeed, emptyFeed);
  const [error, setError] = useState<Error | null>(null);
  const [connection, setConnection] = useState<Connection>(query.to === undefined ? 'connecting' : 'none');
  const { rule_id, platform, to, relevance } = query;
  const load = useLoad(query, dispatch, setError);

  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    const start = async () => {
      const opened =
        to === undefined
          ? openStream(
              { rule_id, platform, relevance },
              { signal, dispatch, setConnection, setError, onRestored },
            )
          : Promise.resolve();
      const isInTime = await Promise.race([opened.then(() => true), sleep(openMs).then(() => false)]);
      await load(null, signal);
      if (isInTime) return;
      // Matches between the list and the opening of the stream are in neither, so everything is loaded again.
      await opened;
      onRestored();
    };
    start().catch((problem: unknown) => signal.aborted || setError(asError(problem)));
    return () => controller.abort();
  }, [load, onRestored, rule_id, platform, relevance, to]);

  const { older, isListed } = state;
  // A page is empty if all of its matches are hidden.
  const wantsNext = wantsOlder || state.items.length === 0;
  useEffect(() => {
    if (!wantsNext || !isListed || older === null) return undefined;
    const controller = new AbortController();
    void load(older, controller.signal);
    return () => controller.abort();
  }, [wantsNext, isListed, older, load]);

  return { state, dispatch, error, connection };
}

/** Loads one page. Retries temporary errors until the server is back. */
function useLoad(query: FeedQuery, dispatch: Dispatch<FeedEvent>, setError: (error: Error | null) => void) {
  const api = useApi();
  const { rule_id, platform, from, to, relevance, hidden, group } = query;
  return useCallback(
    async (older: OlderPage, signal: AbortSignal) => {
      for (;;) {
        try {
          const wanted = {
            rule_id,
            platform,
            from,
            to,
            relevance,
            hidden: group ? undefined : hidden,
            group,
          };
          dispatch(await listPage(api, wanted, older, signal));
          setError(null);
          return;
        } catch (problem) {
          if (signal.aborted) return;
          setError(asError(problem));
          if (!isTemporary(problem)) return;
        }
        await sleep(retryMs);
        if (signal.aborted) return;
      }
    },
    [api, dispatch, setError, rule_id, platform, from, to, relevance, hidden, group],
  );
}

interface StreamParts {
  readonly signal: AbortSignal;
  readonly dispatch: Dispatch<FeedEvent>;
  readonly setConnection: (connection: Connection) => void;
  readonly setError: (error: Error) => void;
  /** The match log was restored to an earlier state, so everything is loaded again. */
  readonly onRestored: () => void;
}

/** The connection state by the HTTP status of the stream. All other statuses mean that it reconnects. */
const connections: Readonly<Record<number, Connection>> = { 200: 'live', 429: 'crowded' };

/** Resolves when the stream is open. New matches are dispatched in batches to save renders. */
async function openStream(filter: Filter, parts: StreamParts): Promise<void> {
  const { signal, dispatch, setConnection, setError, onRestored } = parts;
  let waiting: Match[] = [];
  const flush = () => {
    if (waiting.length > 0) dispatch({ type: 'arrived', matches: waiting });
    waiting = [];
  };
  const timer = setInterval(flush, flushMs);
  signal.addEventListener('abort', () => clearInterval(timer), { once: true });
  const api = createApi((status) => setConnection(connections[status] ?? 'reconnecting'));
  const listener = {
    onMatch: (match: Match) => void waiting.push(match),
    onRemoved: ({ match_id }: { match_id: string }) => {
      flush();
      dispatch({ type: 'removed', ids: [match_id] });
    },
    onHidden: (hidden: Hidden) => dispatch({ type: 'hidden', hidden }),
    onRestored,
  };
  const live = followVisible(api, filter, listener, signal);
  live.ended.catch((problem: unknown) => {
    clearInterval(timer);
    if (!signal.aborted) setError(asError(problem));
  });
  await live.opened();
}

async function listPage(
  api: Earshot,
  query: FeedQuery,
  requested: OlderPage,
  signal: AbortSignal,
): Promise<FeedEvent> {
  const { matches, next_cursor, hidden } = await api.listMatches(
    { limit: pageSize, ...query, ...requested },
    { signal },
  );
  const older = next_cursor === null ? null : { ...requested, cursor: next_cursor };
  return { type: 'listed', requested, matches, older, hidden };
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function asError(problem: unknown): Error {
  return problem instanceof Error ? problem : new Error(String(problem));
}
