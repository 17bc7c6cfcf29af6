import type { CursorScope, Cursors } from './cursor.ts';
import type { MatchFilter } from './follow-matches.ts';

/** Where a reader is in the match log. */
export interface Place {
  readonly position: number;
  /** Up to here the reader knows that retention has removed some. */
  readonly knownRemoved?: number;
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

export function writePlace({ position, knownRemoved = 0 }: Place): string {
  return knownRemoved > position ? `${position}:${knownRemoved}` : `${position}`;
}
