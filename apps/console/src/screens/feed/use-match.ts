import { EarshotError } from '@earshot/sdk';
import { useQuery } from '@tanstack/react-query';
import { useApi } from '../../api/api.tsx';
import { type FeedItem, toItem } from './feed-state.ts';

/** The match with this id: from the list, or else from the server, so that a link to an older match works. */
export function useMatch(id: string | null, listed: FeedItem | undefined, isListed: boolean) {
  const api = useApi();
  const { data, error } = useQuery({
    queryKey: ['getMatch', id],
    queryFn: async ({ signal }) => toItem(await api.getMatch({ match_id: id ?? '' }, { signal })),
    enabled: id !== null && listed === undefined && isListed,
  });
  const isMissing = error instanceof EarshotError && error.code === 'not_found';
  return {
    item: listed ?? (isMissing ? undefined : data),
    error: listed || isMissing ? null : error,
    isMissing,
  };
}
