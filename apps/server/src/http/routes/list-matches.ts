import type { createListMatches } from '../../readers/list-matches.ts';
import type { Route } from '../route.ts';

export function listMatchesRoute(listMatches: ReturnType<typeof createListMatches>): Route<'ListMatches'> {
  return {
    id: 'ListMatches',
    handle: (principal, request, { signal }) => listMatches(principal, request, signal),
  };
}
