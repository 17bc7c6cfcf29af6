import type { Events } from '../observability/events.ts';
import { pause } from '../runtime/pause.ts';
import type { Worker } from '../runtime/worker.ts';

const everyMs = 5_000;

/** The event log as something that fills up. */
export interface LogSpace {
  /** Removes events that are matched already when the log is half full; never the last one of a source. */
  makeRoom(): Promise<LogSpaceUse>;
}

export interface LogSpaceUse {
  readonly removed: number;
  readonly bytes: number;
  readonly bytesMax: number;
  /** Events that are not matched yet. */
  readonly waiting: number;
  /** Copies of the log, apart from the leader's, that are offline or not up to date. */
  readonly copiesBehind: number;
}

/**
 * A full log refuses new events, so what nobody needs any more must not fill it. While there is room, matched events
 * stay for their three days.
 */
export function createMakeRoomWorker({ space, events }: { space: LogSpace; events: Events }): Worker {
  return {
    name: 'make-room',
    async run(signal) {
      while (!signal.aborted) {
        events.logSpace(await space.makeRoom());
        await pause(everyMs, signal);
      }
    },
  };
}
