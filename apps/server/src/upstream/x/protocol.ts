import type { Protocol } from '../../ingest/connector.ts';

const minuteMs = 60_000;

/** X's own back-off numbers; where it names none, the comment says so. */
export const xProtocol: Protocol = {
  waits: {
    planned: { grows: 'not', firstMs: 1_000, maxMs: 1_000, leastMs: 200 },
    network: { grows: 'linear', firstMs: 250, maxMs: 16_000 },
    http: { grows: 'doubling', firstMs: 5_000, maxMs: 320_000 },
    // Every 429 lengthens the penalty, but no window of X is longer than a quarter of an hour.
    limit: { grows: 'doubling', firstMs: minuteMs, maxMs: 15 * minuteMs, leastMs: minuteMs },
    // After an abrupt end X counts the dead connection for seconds, sometimes for hours.
    slot: { grows: 'doubling', firstMs: 5_000, maxMs: minuteMs, leastMs: 5_000 },
    rules: { grows: 'not', firstMs: 30_000, maxMs: 30_000, leastMs: 30_000 },
    provisioning: { grows: 'not', firstMs: minuteMs, maxMs: minuteMs, leastMs: minuteMs },
    // Nothing but a person changes these: looked at again slowly, so that the mended source starts by itself.
    people: { grows: 'not', firstMs: 5 * minuteMs, maxMs: 5 * minuteMs, leastMs: 5 * minuteMs },
    credit: { grows: 'not', firstMs: 15 * minuteMs, maxMs: 15 * minuteMs, leastMs: 15 * minuteMs },
    log: { grows: 'doubling', firstMs: 1_000, maxMs: 30_000 },
  },
  reactions: {
    dropped: { shows: 'reconnecting', ladder: 'network', atOnce: true },
    stalled: { shows: 'reconnecting', ladder: 'network', atOnce: true },
    // X has no planned end; if it learns one, it is no trouble.
    finished: { shows: 'live', ladder: 'planned' },
    unreachable: { shows: 'reconnecting', ladder: 'network' },
    failing: { shows: 'failing', ladder: 'http' },
    rate_limited: { shows: 'rate_limited', ladder: 'limit' },
    slot_busy: { shows: 'slot_busy', ladder: 'slot', freesSlot: true },
    displaced: { shows: 'reconnecting', ladder: 'slot' },
    slow_reader: { shows: 'reconnecting', ladder: 'network', atOnce: true },
    no_rules: { shows: 'no_rules', ladder: 'rules', wakes: true },
    // The registrar compares the rules with ours every 30 s, so they were looked at before the next attempt.
    rules_invalid: { shows: 'rules_invalid', ladder: 'rules', wakes: true },
    provisioning: { shows: 'provisioning', ladder: 'provisioning' },
    no_credit: { shows: 'no_credit', ladder: 'credit' },
    spend_cap: { shows: 'spend_cap', ladder: 'credit' },
    usage_cap: { shows: 'usage_cap', ladder: 'credit' },
    credentials: { shows: 'credentials', ladder: 'people' },
    bad_request: { shows: 'bad_request', ladder: 'people' },
    degraded: { shows: 'degraded', ladder: 'credit' },
    log_unavailable: { shows: 'log_unavailable', ladder: 'log' },
    stopped: { shows: 'stopped', ladder: 'planned' },
  },
  // X allows 50; attempts that X counts and we do not (a lost answer, a former holder) must fit in between.
  connects: { bucket: 'connect', calls: 40, windowMs: 15 * minuteMs },
};
