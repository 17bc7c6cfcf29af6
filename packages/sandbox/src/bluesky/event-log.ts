import { lowerBound } from '../lower-bound.ts';
import type { EventKind } from './frames.ts';

export interface LoggedEvent {
  readonly seq: number;
  /** When the server saw the event, in microseconds. */
  readonly timeUs: number;
  readonly kind: EventKind;
  readonly did: string;
  /** Undefined for all kinds but commits. */
  readonly collection: string | undefined;
  /** Ready to send. */
  readonly frame: Buffer;
}

export type EventLog = ReturnType<typeof createEventLog>;

/** Bounds the memory of a sandbox that runs for days with a busy feed. */
const eventsMax = 200_000;

/** Events in the order of their sequence numbers, which start at 1 and have no gaps. */
export function createEventLog() {
  const events: LoggedEvent[] = [];
  let nextSeq = 1;
  let raisedFloor = 1;
  const firstSeq = () => nextSeq - events.length;

  return {
    append(event: LoggedEvent): void {
      // Trims only now and then: a splice per event would be slow on a full log.
      if (events.length > eventsMax * 1.1) events.splice(0, events.length - eventsMax);
      events.push(event);
      nextSeq = event.seq + 1;
    },
    nextSeq: () => nextSeq,
    /** The event at this sequence number; undefined if it is yet to come or no longer in memory. */
    at: (seq: number): LoggedEvent | undefined => events[seq - firstSeq()],
    isDropped: (seq: number) => seq < firstSeq(),
    /** The first event at this time or later; the next sequence number if there is none. */
    seqAt: (timeUs: number) => firstSeq() + lowerBound(events, (event) => event.timeUs >= timeUs),
    /** The oldest sequence number from which a client can start. */
    floor(oldestUs: number): number {
      return Math.max(raisedFloor, firstSeq(), this.seqAt(oldestUs));
    },
    /** Every sequence number up to now becomes too old. */
    raiseFloor: () => {
      raisedFloor = nextSeq;
    },
    size: () => events.length,
  };
}
