import type { createStreamMatches } from '../../readers/stream-matches.ts';
import type { Route } from '../route.ts';

export function streamMatchesRoute(
  streamMatches: ReturnType<typeof createStreamMatches>,
): Route<'StreamMatches'> {
  return {
    id: 'StreamMatches',
    handle: (principal, request, { lastEventId }) => streamMatches(principal, request, lastEventId),
  };
}
