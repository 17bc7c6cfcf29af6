import type { SourceState } from '@earshot/contract';
import { backoffDelayMs } from '../runtime/backoff.ts';
import type { Ladder, Protocol, Wait } from '../upstream/protocol.ts';
import type { StreamEnding } from '../upstream/upstream-stream.ts';

/** The state of a source's connector. A new lease holder starts with a new one, but spent attempts still count. */
export interface Connector {
  readonly shows: SourceState;
  /** Failures since the last steady connection. */
  readonly failures: Readonly<Partial<Record<Ladder, number>>>;
}

export const newConnector: Connector = { shows: 'starting', failures: {} };

export interface ConnectionEnd {
  readonly ending: StreamEnding;
  /** How long the stream was open; null if it never opened. */
  readonly openMs: number | null;
  readonly random: () => number;
}

export interface NextAttempt {
  readonly delayMs: number;
  readonly wakes: boolean;
  readonly endsStaleConnections: boolean;
  /** True if this ending is the reason why the gap continues. */
  readonly explainsGap: boolean;
}

/** These end only when a person acts, a rule is added or a budget period begins. */
const lasting: ReadonlySet<Ladder> = new Set(['people', 'credit', 'budget', 'rules']);

/**
 * A connection that lasted this long was healthy. If a 200 answer were enough, a stream that ends at once would never
 * back off.
 */
export const steadyAfterMs = 60_000;

export function afterOpening(connector: Connector): Connector {
  return { ...connector, shows: 'live' };
}

export function afterEnding(
  { reactions, waits }: Protocol,
  connector: Connector,
  { ending, openMs, random }: ConnectionEnd,
): { connector: Connector; next: NextAttempt } {
  const { shows, ladder, atOnce, wakes = false, endsStaleConnections = false } = reactions[ending.kind];
  const wasSteady = openMs !== null && (openMs >= steadyAfterMs || ending.kind === 'finished');
  const before = wasSteady ? {} : connector.failures;
  const count = (before[ladder] ?? 0) + 1;
  const requestedMs = 'retryAfterMs' in ending ? (ending.retryAfterMs ?? 0) : 0;
  const isAtOnce = atOnce === true && openMs !== null && count === 1;
  return {
    connector: { shows, failures: { ...before, [ladder]: count } },
    next: {
      delayMs: isAtOnce ? 0 : Math.max(requestedMs, waitMs(waits[ladder], count, random)),
      wakes,
      endsStaleConnections: endsStaleConnections && count > 1,
      explainsGap: openMs === null && lasting.has(ladder),
    },
  };
}

function waitMs({ grows, firstMs, maxMs, leastMs = 0 }: Wait, count: number, random: () => number): number {
  const step = {
    firstMs: grows === 'linear' ? firstMs * count : firstMs,
    factor: grows === 'doubling' ? 2 : 1,
    maxMs,
  };
  return Math.max(leastMs, backoffDelayMs(step, count, random));
}
