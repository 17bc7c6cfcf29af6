import type { SourceState } from '@earshot/contract';
import type { CallLimit } from './call-budget.ts';
import type { EndingKind } from './upstream-stream.ts';

/**
 * Groups of endings that share a back-off. Each group has its own count, so that alternating failures do not reset
 * each other.
 */
export type Ladder =
  | 'planned'
  | 'network'
  | 'http'
  | 'limit'
  | 'connection'
  | 'rules'
  | 'provisioning'
  | 'people'
  | 'credit'
  | 'budget'
  | 'log';

export interface Wait {
  readonly grows: 'not' | 'linear' | 'doubling';
  readonly firstMs: number;
  readonly maxMs: number;
  /** The minimum wait: jitter subtracts up to half, but not below this. */
  readonly leastMs?: number;
}

export interface Reaction {
  readonly shows: SourceState;
  readonly ladder: Ladder;
  /** After an established connection, the first attempt is made at once. */
  readonly atOnce?: true;
  /** A newly registered rule ends the wait. */
  readonly wakes?: true;
  /** From the second time on, connections that the platform still counts for this token are ended. */
  readonly endsStaleConnections?: true;
}

/** How a platform requires its stream to be reconnected. The tables must be complete to compile. */
export interface Protocol {
  readonly waits: Readonly<Record<Ladder, Wait>>;
  readonly reactions: Readonly<Record<EndingKind, Reaction>>;
  /** Limit for connection attempts, successful or not. */
  readonly connects: CallLimit;
}

const minuteMs = 60_000;
const fixed = (ms: number): Wait => ({ grows: 'not', firstMs: ms, maxMs: ms, leastMs: ms });

/** Defaults for platforms that document nothing else. */
export const usualProtocol: Omit<Protocol, 'connects'> = {
  waits: {
    planned: { grows: 'not', firstMs: 1_000, maxMs: 1_000, leastMs: 200 },
    network: { grows: 'doubling', firstMs: 1_000, maxMs: minuteMs },
    http: { grows: 'doubling', firstMs: 1_000, maxMs: minuteMs },
    // Every 429 extends the penalty, but no known window is longer than 15 minutes.
    limit: { grows: 'doubling', firstMs: minuteMs, maxMs: 15 * minuteMs, leastMs: minuteMs },
    // After an abrupt end, the platform counts the dead connection for seconds, sometimes for hours.
    connection: { grows: 'doubling', firstMs: 5_000, maxMs: minuteMs, leastMs: 5_000 },
    rules: fixed(30_000),
    provisioning: fixed(minuteMs),
    // Only a person can fix these. The source is retried now and then, so that it starts automatically once it is
    // fixed.
    people: fixed(5 * minuteMs),
    credit: fixed(15 * minuteMs),
    budget: fixed(minuteMs),
    log: { grows: 'doubling', firstMs: 1_000, maxMs: 30_000 },
  },
  reactions: {
    dropped: { shows: 'reconnecting', ladder: 'network' },
    stalled: { shows: 'reconnecting', ladder: 'network' },
    finished: { shows: 'live', ladder: 'planned' },
    unreachable: { shows: 'reconnecting', ladder: 'network' },
    failing: { shows: 'failing', ladder: 'http' },
    rate_limited: { shows: 'rate_limited', ladder: 'limit' },
    connection_in_use: { shows: 'connection_in_use', ladder: 'connection', endsStaleConnections: true },
    displaced: { shows: 'reconnecting', ladder: 'connection' },
    slow_reader: { shows: 'reconnecting', ladder: 'network', atOnce: true },
    no_rules: { shows: 'no_rules', ladder: 'rules', wakes: true },
    // The registrar compares the rules every 30 s, so it does so before the next attempt.
    rules_invalid: { shows: 'rules_invalid', ladder: 'rules', wakes: true },
    provisioning: { shows: 'provisioning', ladder: 'provisioning' },
    no_credit: { shows: 'no_credit', ladder: 'credit' },
    spend_cap: { shows: 'spend_cap', ladder: 'credit' },
    usage_cap: { shows: 'usage_cap', ladder: 'credit' },
    budget: { shows: 'budget', ladder: 'budget' },
    credentials: { shows: 'credentials', ladder: 'people' },
    bad_request: { shows: 'bad_request', ladder: 'people' },
    degraded: { shows: 'degraded', ladder: 'credit' },
    log_unavailable: { shows: 'log_unavailable', ladder: 'log' },
    log_lost: { shows: 'reconnecting', ladder: 'log', atOnce: true },
    stopped: { shows: 'stopped', ladder: 'planned' },
  },
};

/** Returns the protocol with a connection window that passes `pace` times faster, for the sandbox. */
export function atPace(protocol: Protocol, pace: number): Protocol {
  const { connects } = protocol;
  return { ...protocol, connects: { ...connects, windowMs: connects.windowMs / pace } };
}

/** Only a person can fix these states; until then the source receives nothing. */
export const needsPerson: ReadonlySet<SourceState> = new Set([
  'no_credit',
  'spend_cap',
  'usage_cap',
  'credentials',
  'bad_request',
  'degraded',
]);

/** What a person should do in each source state; docs/sources.md explains the states. */
export const whatToDo: Readonly<Record<SourceState, string>> = {
  starting: 'Nothing: it is about to connect.',
  live: 'Nothing.',
  reconnecting: 'Nothing. If it lasts, check the network.',
  failing: 'Check the status page of the platform.',
  rate_limited: 'Find the other program that uses the token, and stop it.',
  connection_in_use: 'Find the other program that uses the token, and stop it.',
  no_rules: 'Nothing: the stream opens with the first rule.',
  rules_invalid: 'Check the rules of the source on the platform.',
  provisioning: 'Wait some minutes.',
  no_credit: 'Add credit to the upstream account. It is retried automatically.',
  spend_cap: "Raise the spending limit in the upstream's console.",
  usage_cap: 'Change the plan of the upstream account, or wait for its next cycle.',
  budget: 'Nothing: it continues in the next period. To continue now, raise EARSHOT_BUDGET and restart.',
  credentials:
    'Check that the token is valid and that the plan of its app allows filtered streams. Then set a valid token and restart.',
  bad_request: 'Update Earshot, or report it.',
  degraded: "Check the state of the app in the platform's console.",
  log_unavailable:
    'The event log refuses events. Check that nats-server runs, and check its log. If its disk was full, free some space and restart nats-server.',
  stopped: 'Nothing. If it lasts, check that a node with the role `ingest` runs.',
};
