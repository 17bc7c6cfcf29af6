import type { EventLog } from './event-log.ts';

/** Cursors below are sequence numbers; the others are times in microseconds. */
const seqsEnd = 1e15;
const int64Max = 2n ** 63n - 1n;

interface RequestedStart {
  readonly cursor: string | null;
  readonly nowUs: number;
  /** Events before are too old to be replayed. */
  readonly oldestUs: number;
}

export type Start =
  | { readonly kind: 'from'; readonly seq: number; readonly isClamped: boolean }
  | { readonly kind: 'too_old'; readonly floor: number }
  | { readonly kind: 'invalid'; readonly reason: string };

/**
 * Where a stream starts. A cursor is inclusive; without one, or with one in the future, the stream starts at the live
 * tip. A time before the floor starts at the floor.
 */
export function findStart(log: EventLog, { cursor, nowUs, oldestUs }: RequestedStart): Start {
  const live: Start = { kind: 'from', seq: log.nextSeq(), isClamped: false };
  if (cursor === null || cursor === '') return live;
  if (!/^[+-]?\d+$/.test(cursor) || BigInt(cursor) > int64Max)
    return { kind: 'invalid', reason: JSON.stringify(cursor) };
  const position = Number(cursor);
  if (position < 0) return { kind: 'invalid', reason: `negative value ${position}` };
  const floor = log.floor(oldestUs);
  if (position < seqsEnd) {
    if (position >= log.nextSeq()) return live;
    // Events count from 1; 0 is before the first one.
    const seq = Math.max(1, position);
    return seq < floor ? { kind: 'too_old', floor } : { kind: 'from', seq, isClamped: false };
  }
  const isBeforeOldest = position < (log.at(floor)?.timeUs ?? nowUs);
  return { kind: 'from', seq: Math.max(floor, log.seqAt(position)), isClamped: isBeforeOldest };
}
