import type { QueryClient } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';

/** What a proxy says for a server that is not there, and a server that is about to leave. */
const notThere = [0, 502, 503, 504];

/** Whether the server answered last. Every screen asks it for notices, so it is known everywhere. */
export function createReachability(queries: QueryClient) {
  let isReached = true;
  const listeners = new Set<() => void>();
  return {
    /** 0: there was no answer. */
    onAnswer: (status: number): void => {
      const before = isReached;
      isReached = !notThere.includes(status);
      if (isReached === before) return;
      for (const tell of listeners) tell();
      // Whatever is shown may be from before.
      if (isReached) void queries.invalidateQueries();
    },
    isReached: () => isReached,
    subscribe: (tell: () => void) => {
      listeners.add(tell);
      return () => void listeners.delete(tell);
    },
  };
}

export type Reachability = ReturnType<typeof createReachability>;

export function useIsReached({ subscribe, isReached }: Reachability): boolean {
  return useSyncExternalStore(subscribe, isReached);
}
