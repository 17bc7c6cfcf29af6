import { amount, choice, type Positions } from '../knobs.ts';

const hourMs = 3_600_000;

/** Settings of the server. */
export const blueskyKnobs = {
  /** Service time from which events can be replayed. */
  lookbackMs: amount(36 * hourMs),
  /** Service time between two pings. */
  pingMs: amount(30_000),
  /** Real time after which a client that takes no bytes, or does not answer a ping, is disconnected. */
  writeTimeoutMs: amount(5_000),
  /** Whether frames of the first protocol version have a cursor; those of the first server do not. */
  v1Cursor: choice('present', 'absent'),
};

export type BlueskyKnobs = Positions<typeof blueskyKnobs>;
