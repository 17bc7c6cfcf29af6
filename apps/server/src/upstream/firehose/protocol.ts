import type { Protocol } from '../../ingest/connector.ts';
import { xProtocol } from '../x/protocol.ts';

const minuteMs = 60_000;

/** Firehose ends every stream after five minutes, and lets it be resumed: haste gains nothing. */
export const firehoseProtocol: Protocol = {
  waits: {
    ...xProtocol.waits,
    network: { grows: 'doubling', firstMs: 1_000, maxMs: minuteMs },
    http: { grows: 'doubling', firstMs: 1_000, maxMs: minuteMs },
  },
  // What Firehose never says is treated as X treats it: the adapter cannot produce it.
  reactions: {
    ...xProtocol.reactions,
    dropped: { shows: 'reconnecting', ladder: 'network' },
    stalled: { shows: 'reconnecting', ladder: 'network' },
  },
  // 30 are allowed; one every 2.5 s leaves room for what a former holder has under way.
  connects: { bucket: 'connect', calls: 24, windowMs: minuteMs },
};
