import type { JsonObject } from '../http/json.ts';
import { assumedPositions } from '../knobs.ts';
import { createEventLog, type EventLog } from './event-log.ts';
import { createTids } from './ids.ts';
import { type BlueskyKnobs, blueskyKnobs } from './knobs.ts';
import { createPostJournal, type PostJournal } from './post-journal.ts';

/** One client. */
export interface BlueskyConnection {
  readonly stream: {
    /** Keeps the socket open, sends nothing and answers nothing. */
    readonly stall: () => void;
    readonly isStalled: () => boolean;
    /** Stops messages; pings continue. */
    readonly mute: () => void;
    readonly write: (frame: string) => void;
    /** As the server does when it is stopped. */
    readonly end: () => void;
    readonly destroy: () => void;
    /** Closes at once with a TCP reset. */
    readonly reset: () => void;
  };
  /** Sends the events from the position on, as long as the client keeps up. */
  readonly pump: () => void;
  /** Sends an error frame and closes. */
  readonly fail: (frame: string) => void;
  readonly describe: () => JsonObject;
}

/** All state of one Jetstream server. */
export interface Bluesky {
  readonly knobs: BlueskyKnobs;
  readonly log: EventLog;
  readonly journal: PostJournal;
  readonly connections: Set<BlueskyConnection>;
  readonly nextTid: (atUs: number) => string;
  /** Microseconds that only grow. */
  readonly nowUs: () => number;
  connectionsTotal: number;
}

export function createBluesky(nowMs: () => number): Bluesky {
  let lastUs = 0;
  return {
    knobs: assumedPositions(blueskyKnobs),
    log: createEventLog(),
    journal: createPostJournal(),
    connections: new Set(),
    nextTid: createTids(),
    nowUs: () => {
      const micros = Math.floor((performance.now() * 1_000) % 1_000);
      lastUs = Math.max(lastUs + 1, nowMs() * 1_000 + micros);
      return lastUs;
    },
    connectionsTotal: 0,
  };
}

export function closeBluesky({ connections }: Bluesky): void {
  for (const { stream } of connections) {
    stream.end();
    stream.destroy();
  }
}
