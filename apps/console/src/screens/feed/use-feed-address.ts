import { useCallback, useMemo } from 'react';
import { useSearchParams } from 'wouter';
import type { FeedQuery } from './use-feed.ts';

const platforms = ['x', 'firehose'] as const;

export interface FeedAddress {
  readonly query: FeedQuery;
  /** The match that is looked at. */
  readonly peek: string | null;
}

/** What the feed shows is in its address: it can be sent to somebody. */
export function useFeedAddress() {
  const [params, setParams] = useSearchParams();
  const address = useMemo((): FeedAddress => {
    const text = (name: string) => params.get(name) ?? undefined;
    const query = {
      rule_id: text('rule'),
      platform: platforms.find((known) => known === text('platform')),
      from: timeOf(text('from')),
      to: timeOf(text('to')),
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

/** A damaged address shows everything rather than an error. */
function timeOf(text: string | undefined): string | undefined {
  return text === undefined || Number.isNaN(Date.parse(text)) ? undefined : text;
}
