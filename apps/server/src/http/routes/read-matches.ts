import type { createReadMatches } from '../../readers/read-matches.ts';
import type { Route } from '../route.ts';

export function readMatchesRoute(readMatches: ReturnType<typeof createReadMatches>): Route<'ReadMatches'> {
  return {
    id: 'ReadMatches',
    handle: (principal, request, { signal }) => readMatches(principal, request, signal),
  };
}
