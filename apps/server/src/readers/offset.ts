import type { CursorScope, Cursors } from '../runtime/cursor.ts';
import { Failure } from '../runtime/failure.ts';
import type { MatchFilter } from './follow-matches.ts';
import type { MatchReader } from './match-reader.sql.ts';

/**
 * How far a reader has read, and up to which position it knows that retention has removed matches: it is told once, and
 * then continues from where it was, so that it misses nothing that still exists.
 */
export interface Offset {
  readonly position: number;
  readonly knownRemoved: number;
}

export const start: Offset = { position: 0, knownRemoved: 0 };

/** The same as the cursor of a list in the order of the log: readers with the same filter can exchange their cursors. */
export function scopeOfFilter({ accountId, ruleId, platform }: MatchFilter): CursorScope {
  return { accountId, filter: ['matches', ruleId, platform, null, null, 'oldest'] };
}

/** Of a named reader, whose filter never changes. */
export function scopeOfReader(accountId: string, name: string): CursorScope {
  return { accountId, filter: ['reader', name] };
}

export function openOffset(cursors: Cursors, scope: CursorScope, cursor: string): Offset {
  return parseOffset(cursors.open(scope, cursor));
}

export function sealOffset(cursors: Cursors, scope: CursorScope, offset: Offset): string {
  return cursors.seal(scope, formatOffset(offset));
}

export function parseOffset(text: string): Offset {
  const [position = 0, knownRemoved = 0] = text.split(':').map(Number);
  return { position, knownRemoved };
}

export function formatOffset({ position, knownRemoved }: Offset): string {
  return knownRemoved > position ? `${position}:${knownRemoved}` : `${position}`;
}

/** Throws when retention has removed matches behind the offset of which its reader was not told yet. */
export async function refuseRemoved(
  { reader, cursors }: { reader: Pick<MatchReader, 'removedThrough'>; cursors: Cursors },
  filter: MatchFilter,
  scope: CursorScope,
  offset: Offset,
): Promise<void> {
  const removed = await reader.removedThrough(filter);
  if (removed <= Math.max(offset.position, offset.knownRemoved)) return;
  throw new Failure(
    'out_of_range',
    'The cursor is older than the retention period. Continue from details.oldest_cursor.',
    { details: { oldest_cursor: sealOffset(cursors, scope, { ...offset, knownRemoved: removed }) } },
  );
}
