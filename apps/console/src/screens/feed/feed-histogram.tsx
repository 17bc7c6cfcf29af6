import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useCallback } from 'react';
import { useApi } from '../../api/api.tsx';
import { ErrorNote } from '../../parts/error-note.tsx';
import { divide, divisionWords } from './counts.ts';
import { Histogram } from './histogram.tsx';
import type { FeedQuery } from './use-feed.ts';

const refreshMs = 15_000;
/** An empty chart is refreshed sooner, so that it shows the first match. Counting no matches is cheap. */
const emptyRefreshMs = 3_000;

export function FeedHistogram({
  query,
  onRange,
}: {
  query: FeedQuery;
  /** `to` is null for a range that ends now. */
  onRange: (changes: { from: string; to: string | null }) => void;
}) {
  const api = useApi();
  const { rule_id, platform } = query;
  const { data, error } = useQuery({
    queryKey: ['counts', query],
    queryFn: async ({ signal }) => {
      const now = new Date();
      const division = divide(query, now);
      const { from, to, stepSeconds } = division;
      const { series } = await api.countMatches(
        { rule_id, platform, from, to, step: stepSeconds },
        { signal },
      );
      return { division, words: divisionWords(division, now), counts: series[0]?.counts ?? [] };
    },
    refetchInterval: ({ state }) =>
      query.to === undefined && (state.data?.counts.some((count) => count > 0) ? refreshMs : emptyRefreshMs),
    placeholderData: keepPreviousData,
  });
  const onChosen = useCallback(
    // The last bar ends in the future. If it is chosen, the range stays open for new matches.
    (from: string, to: string) => onRange({ from, to: Date.parse(to) > Date.now() ? null : to }),
    [onRange],
  );
  if (error && !data) return <ErrorNote error={error} />;
  return data ? <Histogram {...data} onRange={onChosen} /> : null;
}
