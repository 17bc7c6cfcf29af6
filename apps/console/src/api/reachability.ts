import type { QueryClient } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';

/** 0: no answer. 502 to 504: a proxy cannot reach the server, or the server shuts down. */
const unreachableStatuses = [0, 502, 503, 504];

/** Tracks whether the latest request reached the server. Every screen polls notices, so it is always up to date. */
export function createReachability(queries: QueryClient) {
  let isReached = true;
  const listeners = new Set<() => void>();
  return {
    onAnswer: (status: number): void => {
      const before = isReached;
      isReached = !unreachableStatuses.includes(status);
      if (isReached === before) return;
      for (const listener of listeners) listener();
      // Everything on the screen may be out of date.
      if (isReached) void queries.invalidateQueries();
    },
    isReached: () => isReached,
    subscribe: (listener: () => void) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

export type Reachability = ReturnType<typeof createReachability>;

export function useIsReached({ subscribe, isReached }: Reachability): boolean {
  return useSyncExternalStore(subscribe, isReached);
}
