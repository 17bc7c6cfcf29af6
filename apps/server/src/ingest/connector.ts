import type { SourceState } from '@earshot/contract';
import { backoffDelayMs } from '../runtime/backoff.ts';
import type { Ladder, Protocol, Wait } from '../upstream/protocol.ts';
import type { StreamEnding } from '../upstream/upstream-stream.ts';

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
  readonly endsStaleConnections: boolean;
  /** The gap lasts because of this, whatever began it. */
  readonly explainsGap: boolean;
}

/** Only a person, a new rule or the next period ends these. */
const lasting: ReadonlySet<Ladder> = new Set(['people', 'credit', 'budget', 'rules']);

/** A connection that lasted this long was healthy. After a 200 alone, a stream that ends at once would never back off. */
export const steadyAfterMs = 60_000;

export function afterOpening(connector: Connector): Connector {
  return { ...connector, shows: 'live' };
}

export function afterEnding(
  { reactions, waits }: Protocol,
  connector: Connector,
  { ending, openMs, random }: Ended,
): { connector: Connector; next: NextAttempt } {
  const { shows, ladder, atOnce, wakes = false, endsStaleConnections = false } = reactions[ending.kind];
  const wasSteady = openMs !== null && (openMs >= steadyAfterMs || ending.kind === 'finished');
  const before = wasSteady ? {} : connector.failures;
  const count = (before[ladder] ?? 0) + 1;
  const asked = 'retryAfterMs' in ending ? (ending.retryAfterMs ?? 0) : 0;
  const isAtOnce = atOnce === true && openMs !== null && count === 1;
  return {
    connector: { shows, failures: { ...before, [ladder]: count } },
    next: {
      delayMs: isAtOnce ? 0 : Math.max(asked, waitMs(waits[ladder], count, random)),
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
