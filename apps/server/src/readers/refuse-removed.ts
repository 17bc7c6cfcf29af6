import { Failure } from '../runtime/failure.ts';
import type { CursorScope, Cursors } from './cursor.ts';
import type { MatchQuery, MatchReader } from './match-reader.ts';
import { type Place, sealPlace } from './place.ts';

export interface RefuseRemovedOptions {
  readonly reader: Pick<MatchReader, 'removedThrough'>;
  readonly cursors: Cursors;
}

/**
 * A follower whose place retention has passed is told once, and then goes on from where it was, so that it misses
 * nothing that is still there; it never jumps silently.
 */
export async function refuseWhatIsRemoved(
  { reader, cursors }: RefuseRemovedOptions,
  filter: Pick<MatchQuery, 'accountId' | 'ruleId' | 'platform'>,
  scope: CursorScope,
  place: Place,
): Promise<void> {
  const removed = await reader.removedThrough(filter);
  if (removed <= Math.max(place.position, place.knownRemoved ?? 0)) return;
  throw new Failure(
    'out_of_range',
    'The cursor is older than the retention period. Continue from details.oldest_cursor.',
    { details: { oldest_cursor: sealPlace(cursors, scope, { ...place, knownRemoved: removed }) } },
  );
}
