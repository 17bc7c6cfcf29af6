import type { SourceState } from '@earshot/contract';
import type { CallLimit } from './call-budget.ts';
import type { EndingKind } from './upstream-stream.ts';

/** Failures that wait together: each has its own count, so that alternating ones do not reset each other. */
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
  /** The jitter takes away up to half, but never goes below this. */
  readonly leastMs?: number;
}

export interface Reaction {
  readonly shows: SourceState;
  readonly ladder: Ladder;
  /** An established connection that ends so is reopened at once, the first time. */
  readonly atOnce?: true;
  /** A newly registered rule cuts the wait short. */
  readonly wakes?: true;
  /** From the second time on, the connections that the upstream still counts as ours are ended. */
  readonly endsStaleConnections?: true;
}

/** How a platform wants its stream to be reconnected; the tables are complete, or they do not compile. */
export interface Protocol {
  readonly waits: Readonly<Record<Ladder, Wait>>;
  readonly reactions: Readonly<Record<EndingKind, Reaction>>;
  /** Connection attempts, whatever comes of them. */
  readonly connects: CallLimit;
}

const minuteMs = 60_000;
const fixed = (ms: number): Wait => ({ grows: 'not', firstMs: ms, maxMs: ms, leastMs: ms });

/** What holds for every platform that does not document something else. */
export const usualProtocol: Omit<Protocol, 'connects'> = {
  waits: {
    planned: { grows: 'not', firstMs: 1_000, maxMs: 1_000, leastMs: 200 },
    network: { grows: 'doubling', firstMs: 1_000, maxMs: minuteMs },
    http: { grows: 'doubling', firstMs: 1_000, maxMs: minuteMs },
    // Every 429 lengthens the penalty, but no known window is longer than a quarter of an hour.
    limit: { grows: 'doubling', firstMs: minuteMs, maxMs: 15 * minuteMs, leastMs: minuteMs },
    // After an abrupt end the upstream counts the dead connection for seconds, sometimes for hours.
    connection: { grows: 'doubling', firstMs: 5_000, maxMs: minuteMs, leastMs: 5_000 },
    rules: fixed(30_000),
    provisioning: fixed(minuteMs),
    // Only a person changes these. The source is tried now and then, so that it starts by itself once it is mended.
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
    // The registrar compares the upstream's rules with ours every 30 s, so it has before the next attempt.
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

/** The same with the window of connection attempts passing `pace` times faster, as the sandbox lets it. */
export function atPace(protocol: Protocol, pace: number): Protocol {
  const { connects } = protocol;
  return { ...protocol, connects: { ...connects, windowMs: connects.windowMs / pace } };
}

/** Only a person mends these: until then the source hears nothing. */
export const needsPerson: ReadonlySet<SourceState> = new Set([
  'no_credit',
  'spend_cap',
  'usage_cap',
  'credentials',
  'bad_request',
  'degraded',
]);

/** What a person does about the state of a source; docs/sources.md explains the states. */
export const whatToDo: Readonly<Record<SourceState, string>> = {
  starting: 'Nothing: it is about to connect.',
  live: 'Nothing.',
  reconnecting: 'Nothing, unless it lasts: then look at the network.',
  failing: "Look at the upstream's status page.",
  rate_limited: 'Find out who else uses the token.',
  connection_in_use: 'Find out who else uses the token.',
  no_rules: 'Nothing: the first rule opens the stream.',
  rules_invalid: 'Look at the rules of the source upstream.',
  provisioning: 'Wait some minutes.',
  no_credit: 'Add credit to the upstream account. It is retried automatically.',
  spend_cap: "Raise the spending limit in the upstream's console.",
  usage_cap: 'Change the plan of the upstream account, or wait for its next cycle.',
  budget: 'Nothing: it goes on in the next period. Or raise EARSHOT_BUDGET, and restart.',
  credentials:
    'Check that the token is valid and that the plan of its app allows filtered streams; set another token and restart.',
  bad_request: 'Update Earshot, or report it.',
  degraded: "Look at the state of the app in the upstream's console.",
  log_unavailable:
    'The event log takes no events. Check that nats-server runs, and its log. If its disk was full, free some space and restart nats-server.',
  stopped: 'Nothing, unless it lasts: then look whether a node with the role `ingest` runs.',
};
