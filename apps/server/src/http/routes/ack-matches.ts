import type { createAckMatches } from '../../readers/ack-matches.ts';
import type { Route } from '../route.ts';

export function ackMatchesRoute(ackMatches: ReturnType<typeof createAckMatches>): Route<'AckMatches'> {
  return { id: 'AckMatches', handle: ackMatches };
}
