import type { CursorScope, Cursors } from '../runtime/cursor.ts';
import { Failure } from '../runtime/failure.ts';
import type { MatchFilter } from './follow-matches.ts';
import type { MatchReader } from './match-reader.ts';

/**
 * Where a reader is, and up to which position it knows that retention has removed some: it is told once, and then goes
 * on from where it was, so that it misses nothing that is still there.
 */
export interface Place {
  readonly position: number;
  readonly knownRemoved: number;
}

/** Further on, by somebody who was at `before`, or at no place yet. */
export function moved(before: Place | null, position: number): Place {
  return { position, knownRemoved: before?.knownRemoved ?? 0 };
}

/** Whoever reads the same matches in the order of the log can go on with the cursor of the others. */
export function scopeOfFilter({ accountId, ruleId, platform }: MatchFilter): CursorScope {
  return { accountId, filter: ['matches', ruleId, platform, null, null, 'oldest'] };
}

/** Of a named reader, whose filter never changes. */
export function scopeOfReader(accountId: string, name: string): CursorScope {
  return { accountId, filter: ['reader', name] };
}

export function openPlace(cursors: Cursors, scope: CursorScope, cursor: string): Place {
  return readPlace(cursors.open(scope, cursor));
}

export function sealPlace(cursors: Cursors, scope: CursorScope, place: Place): string {
  return cursors.seal(scope, writePlace(place));
}

export function readPlace(text: string): Place {
  const [position = 0, knownRemoved = 0] = text.split(':').map(Number);
  return { position, knownRemoved };
}

export function writePlace({ position, knownRemoved }: Place): string {
  return knownRemoved > position ? `${position}:${knownRemoved}` : `${position}`;
}

/** For everybody who goes on from a place in the order of the log. */
export async function refuseWhatIsRemoved(
  { reader, cursors }: { reader: Pick<MatchReader, 'removedThrough'>; cursors: Cursors },
  filter: MatchFilter,
  scope: CursorScope,
  place: Place,
): Promise<void> {
  const removed = await reader.removedThrough(filter);
  if (removed <= Math.max(place.position, place.knownRemoved)) return;
  throw new Failure(
    'out_of_range',
    'The cursor is older than the retention period. Continue from details.oldest_cursor.',
    { details: { oldest_cursor: sealPlace(cursors, scope, { ...place, knownRemoved: removed }) } },
  );
}
