import type { CursorScope, Cursors } from '../runtime/cursor.ts';
import { Failure } from '../runtime/failure.ts';
import type { StoryRange } from '../stories/story-reader.sql.ts';
import type { MatchFilter } from './follow-matches.ts';
import type { MatchReader } from './match-reader.sql.ts';
import type { View } from './views.ts';

/**
 * How far a reader has read, and up to which position it knows that retention has removed matches. It gets that error once, and then
 * continues at its position, so that it misses nothing that still exists.
 */
export interface Offset {
  readonly position: number;
  readonly knownRemoved: number;
  /** Only of readers that list stories: where their range begins, or ends if the newest are first. */
  readonly bound?: number;
}

export const start: Offset = { position: 0, knownRemoved: 0 };

/** The same scope as the cursor of a list in the order of the log: readers with the same filter can exchange cursors. */
export function scopeOfFilter(
  { accountId, ruleId, platform }: MatchFilter,
  view: ScopedView = showsAll,
): CursorScope {
  return { accountId, filter: ['matches', ruleId, platform, null, null, 'oldest', ...scopeOfView(view)] };
}

interface ScopedView extends Pick<View, 'relevance' | 'hidden'> {
  readonly stories?: boolean;
}

const showsAll = { relevance: 'all', hidden: 'exclude' } as const;

/** Where a reader begins that wants only what is new. Stories that began before are new to it. */
export function startAt(position: number, isGrouped: boolean): Offset {
  return { ...start, position, ...(isGrouped && { bound: position }) };
}

/** The range of a reader in the order of the log. */
export function toStoryRange(
  { ruleId, platform }: MatchFilter,
  offset: Pick<Offset, 'bound'> | null,
): StoryRange {
  const ruleIds = ruleId === null ? null : [ruleId];
  const order = 'oldest';
  return { ruleIds, platform, since: null, until: null, order, ...boundsOf(order, offset) };
}

/** The positions of a range of stories. */
export function boundsOf(order: 'newest' | 'oldest', offset: Pick<Offset, 'bound'> | null) {
  const end = Number.MAX_SAFE_INTEGER;
  return order === 'newest'
    ? { after: 0, through: offset?.bound ?? end }
    : { after: offset?.bound ?? 0, through: end };
}

/** With another view, a cursor would skip what its first view has hidden. */
export function scopeOfView({ relevance, hidden, stories }: ScopedView): string[] {
  const isPlain = relevance === 'all' && hidden === 'exclude' && !stories;
  return isPlain ? [] : ['view', relevance, hidden, ...(stories ? ['story'] : [])];
}

/** The scope of a named reader, whose filter never changes. */
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
  const [position = 0, knownRemoved = 0, bound] = text.split(':').map(Number);
  return { position, knownRemoved, ...(bound !== undefined && { bound }) };
}

export function formatOffset({ position, knownRemoved, bound }: Offset): string {
  if (bound !== undefined) return `${position}:${knownRemoved}:${bound}`;
  return knownRemoved > position ? `${position}:${knownRemoved}` : `${position}`;
}

/**
 * Returns the position to which the log last jumped (0: never). Throws if the reader must know something before it continues: retention
 * has removed matches after its offset, or the match log went back to a position before it. In the second case it gets its last matches
 * again under new ids.
 */
export async function refuseOvertaken(
  { reader, cursors }: { reader: Pick<MatchReader, 'overtaken'>; cursors: Cursors },
  filter: MatchFilter,
  scope: CursorScope,
  offset: Offset,
): Promise<number> {
  const { removedThrough, restoredTo, jumpedTo } = await reader.overtaken(filter, offset.position);
  if (restoredTo !== null) throw restored(cursors, scope, { ...offset, position: restoredTo });
  refuseRemoved(cursors, scope, offset, removedThrough);
  return jumpedTo;
}

/** Throws if retention has removed something after the offset that the reader does not know of yet. */
export function refuseRemoved(
  cursors: Cursors,
  scope: CursorScope,
  offset: Offset,
  removedThrough: number,
): void {
  if (removedThrough <= Math.max(offset.position, offset.knownRemoved)) return;
  throw new Failure(
    'out_of_range',
    'The cursor is older than the retention period. Continue from details.oldest_cursor.',
    {
      details: {
        reason: 'retention',
        oldest_cursor: sealOffset(cursors, scope, { ...offset, knownRemoved: removedThrough }),
      },
    },
  );
}

/** `to` is the last offset before the restore that still exists in the log. */
export function restored(cursors: Cursors, scope: CursorScope, to: Offset): Failure {
  return new Failure(
    'out_of_range',
    'The match log was restored to an earlier state. Continue from details.oldest_cursor: matches after it may be returned again, under new ids.',
    { details: { reason: 'restored', oldest_cursor: sealOffset(cursors, scope, to) } },
  );
}
