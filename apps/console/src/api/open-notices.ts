import { useQuery } from '@tanstack/react-query';
import { useApi } from './api.tsx';

/** Begins the key of everything that lists notices. */
export const noticesKey = 'listNotices';
const limit = 100;

/**
 * What is not resolved. With `next_cursor` there is more than the badge can tell. Asked for again and again: a second stream
 * beside that of the matches would take one of the few connections that a browser opens, and one of the key's streams.
 */
export function useOpenNotices() {
  const api = useApi();
  return useQuery({
    queryKey: [noticesKey, 'open', limit],
    queryFn: ({ signal }) => api.listNotices({ open: true, limit }, { signal }),
    // A server that is back is found soon.
    refetchInterval: ({ state }) => (state.error ? 3_000 : 15_000),
  });
}
