import { useCallback, useMemo } from 'react';
import { useSearchParams } from 'wouter';
import { platforms } from '../../parts/platforms.ts';
import type { FeedQuery } from './use-feed.ts';

const relevances = ['not_irrelevant', 'relevant'] as const;

export interface FeedAddress {
  readonly query: FeedQuery;
  /** The id of the open match. */
  readonly peek: string | null;
}

/** Keeps the state of the feed in the address, so that it can be shared. */
export function useFeedAddress() {
  const [params, setParams] = useSearchParams();
  const address = useMemo((): FeedAddress => {
    const text = (name: string) => params.get(name) ?? undefined;
    const query = {
      rule_id: text('rule'),
      platform: platforms.find((known) => known === text('platform')),
      from: timeOf(text('from')),
      to: timeOf(text('to')),
      relevance: relevances.find((known) => known === text('relevance')),
      hidden: text('hidden') === 'include' ? ('include' as const) : undefined,
      group: text('group') === 'story' ? ('story' as const) : undefined,
    };
    return { query, peek: params.get('peek') };
  }, [params]);
  const change = useCallback(
    (changes: Readonly<Record<string, string | null>>, options?: { replace: boolean }) =>
      setParams((before) => {
        const next = new URLSearchParams(before);
        for (const [name, value] of Object.entries(changes)) {
          if (value === null) next.delete(name);
          else next.set(name, value);
        }
        return next;
      }, options),
    [setParams],
  );
  return { ...address, change };
}

/** Ignores an invalid time in the address. */
function timeOf(text: string | undefined): string | undefined {
  return text === undefined || Number.isNaN(Date.parse(text)) ? undefined : text;
}
