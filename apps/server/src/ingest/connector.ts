import type { CallLimit } from '../upstream/call-budget.ts';
import type { EndingKind, StreamEnding } from '../upstream/stream-ending.ts';

/** What people see of a source: is it listening, and if not, what keeps it. */
export const sourceStates = [
  'starting',
  'live',
  'reconnecting',
  'failing',
  'rate_limited',
  'slot_busy',
  'no_rules',
  'rules_invalid',
  'provisioning',
  'no_credit',
  'spend_cap',
  'usage_cap',
  'credentials',
  'bad_request',
  'degraded',
  'log_unavailable',
  'stopped',
] as const;
export type SourceState = (typeof sourceStates)[number];

/** Failures that wait together: each has its own count, so that alternating ones do not reset each other. */
export type Ladder =
  | 'planned'
  | 'network'
  | 'http'
  | 'limit'
  | 'slot'
  | 'rules'
  | 'provisioning'
  | 'people'
  | 'credit'
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
  /** From the second time on, the connection that takes our place is ended. */
  readonly freesSlot?: true;
}

/** How one platform wants to be treated; the tables are complete, or they do not compile. */
export interface Protocol {
  readonly waits: Readonly<Record<Ladder, Wait>>;
  readonly reactions: Readonly<Record<EndingKind, Reaction>>;
  /** Connection attempts, whatever comes of them. */
  readonly connects: CallLimit;
}

/** The state of a source's connector. It begins anew with each holder of the lease; the spent connects do not. */
export interface Connector {
  readonly shows: SourceState;
  /** Since the last connection that lasted. */
  readonly failures: Readonly<Partial<Record<Ladder, number>>>;
}

export const newConnector: Connector = { shows: 'starting', failures: {} };

export interface Ended {
  readonly ending: StreamEnding;
  /** How long the stream was open; null when it never was. */
  readonly openMs: number | null;
  readonly random: () => number;
}

export interface NextAttempt {
  readonly delayMs: number;
  readonly wakes: boolean;
  readonly freesSlot: boolean;
  /** The gap lasts because of this, whatever began it. */
  readonly explainsGap: boolean;
}

/** Only a person, or a new rule, ends these. */
const lasting: ReadonlySet<Ladder> = new Set(['people', 'credit', 'rules']);

/** A connection that lasted this long was healthy. A 200 alone is not: "200, then the end" would never back off. */
export const steadyAfterMs = 60_000;

export function afterOpening(connector: Connector): Connector {
  return { ...connector, shows: 'live' };
}

export function afterEnding(
  { reactions, waits }: Protocol,
  connector: Connector,
  { ending, openMs, random }: Ended,
): { connector: Connector; next: NextAttempt } {
  const { shows, ladder, atOnce, wakes = false, freesSlot = false } = reactions[ending.kind];
  const wasSteady = openMs !== null && (openMs >= steadyAfterMs || ending.kind === 'finished');
  const before = wasSteady ? {} : connector.failures;
  const count = (before[ladder] ?? 0) + 1;
  const asked = ending.kind === 'rate_limited' ? (ending.retryAfterMs ?? 0) : 0;
  const isAtOnce = atOnce === true && openMs !== null && count === 1;
  return {
    connector: { shows, failures: { ...before, [ladder]: count } },
    next: {
      delayMs: isAtOnce ? 0 : Math.max(asked, waitMs(waits[ladder], count, random)),
      wakes,
      freesSlot: freesSlot && count > 1,
      explainsGap: openMs === null && lasting.has(ladder),
    },
  };
}

function waitMs({ grows, firstMs, maxMs, leastMs = 0 }: Wait, count: number, random: () => number): number {
  const factor = { not: 1, linear: count, doubling: 2 ** Math.min(20, count - 1) }[grows];
  const jittered = Math.round(Math.min(maxMs, firstMs * factor) * (0.5 + random() / 2));
  return Math.max(leastMs, jittered);
}
