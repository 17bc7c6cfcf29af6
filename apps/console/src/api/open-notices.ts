import { useQuery } from '@tanstack/react-query';
import { useApi } from './api.tsx';

/** The first part of the key of every query that lists notices. */
export const noticesKey = 'listNotices';
const limit = 100;

/**
 * Polls the unresolved notices; `next_cursor` is set if there are more than the badge can count. A stream would use one of
 * the few connections that a browser opens to a host, and one of the streams that the key may open.
 */
export function useOpenNotices() {
  const api = useApi();
  return useQuery({
    queryKey: [noticesKey, 'open', limit],
    queryFn: ({ signal }) => api.listNotices({ open: true, limit }, { signal }),
    // After an error, polls faster to notice soon that the server is back.
    refetchInterval: ({ state }) => (state.error ? 3_000 : 15_000),
  });
}
