import { type Platform, type SourceState, sourceStates } from '@earshot/contract';
import { describe, expect, test } from 'vitest';
import { blueskyProtocol } from '../upstream/bluesky/platform.ts';
import { firehoseProtocol } from '../upstream/firehose/platform.ts';
import type { Protocol } from '../upstream/protocol.ts';
import { type EndingKind, endingKinds, type StreamEnding } from '../upstream/upstream-stream.ts';
import { xProtocol } from '../upstream/x/platform.ts';
import { afterEnding, afterOpening, newConnector, steadyAfterMs } from './connector.ts';

const protocols: Record<Platform, Protocol> = {
  x: xProtocol,
  firehose: firehoseProtocol,
  bluesky: blueskyProtocol,
};

interface Row {
  readonly shows: SourceState;
  /** Longest waits after the 1st, 2nd, 3rd … consecutive failure if the stream never opened. */
  readonly waitsMs: readonly number[];
  readonly lastMs: number;
  /** Jitter subtracts up to half; `exact` has none, a number is the minimum. */
  readonly jitter?: 'exact' | number;
  /** First wait after an established stream, if it differs. */
  readonly openedFirstMs?: number;
  readonly wakes?: true;
  readonly endsStaleFrom?: number;
}

const exact = (shows: SourceState, ms: number): Row => ({
  shows,
  waitsMs: [ms, ms],
  lastMs: ms,
  jitter: 'exact',
});
const xNetwork = { shows: 'reconnecting', waitsMs: [250, 500, 750, 1_000], lastMs: 16_000 } as const;
const usualNetwork = {
  shows: 'reconnecting',
  waitsMs: [1_000, 2_000, 4_000, 8_000],
  lastMs: 60_000,
} as const;
const slot = { waitsMs: [5_000, 10_000, 20_000, 40_000], lastMs: 60_000, jitter: 5_000 } as const;
const planned = { waitsMs: [1_000, 1_000], lastMs: 1_000 } as const;

/** Endings that the platforms share. */
const shared = {
  finished: { shows: 'live', ...planned },
  rate_limited: {
    shows: 'rate_limited',
    waitsMs: [60_000, 120_000, 240_000, 480_000],
    lastMs: 900_000,
    jitter: 60_000,
  },
  connection_in_use: { shows: 'connection_in_use', ...slot, endsStaleFrom: 2 },
  displaced: { shows: 'reconnecting', ...slot },
  no_rules: { ...exact('no_rules', 30_000), wakes: true },
  rules_invalid: { ...exact('rules_invalid', 30_000), wakes: true },
  provisioning: exact('provisioning', 60_000),
  no_credit: exact('no_credit', 900_000),
  spend_cap: exact('spend_cap', 900_000),
  usage_cap: exact('usage_cap', 900_000),
  budget: exact('budget', 60_000),
  degraded: exact('degraded', 900_000),
  credentials: exact('credentials', 300_000),
  bad_request: exact('bad_request', 300_000),
  log_unavailable: { shows: 'log_unavailable', waitsMs: [1_000, 2_000, 4_000], lastMs: 30_000 },
  log_lost: { shows: 'reconnecting', waitsMs: [1_000, 2_000, 4_000], lastMs: 30_000, openedFirstMs: 0 },
  stopped: { shows: 'stopped', ...planned },
} satisfies Partial<Record<EndingKind, Row>>;

const usual: Record<EndingKind, Row> = {
  ...shared,
  dropped: usualNetwork,
  stalled: usualNetwork,
  slow_reader: { ...usualNetwork, openedFirstMs: 0 },
  unreachable: usualNetwork,
  failing: { ...usualNetwork, shows: 'failing' },
};

/** A missing pair is a compile error. */
const expected: Record<Platform, Record<EndingKind, Row>> = {
  x: {
    ...shared,
    dropped: { ...xNetwork, openedFirstMs: 0 },
    stalled: { ...xNetwork, openedFirstMs: 0 },
    slow_reader: { ...xNetwork, openedFirstMs: 0 },
    unreachable: xNetwork,
    failing: { shows: 'failing', waitsMs: [5_000, 10_000, 20_000, 40_000], lastMs: 320_000 },
  },
  firehose: usual,
  bluesky: usual,
};

function endingOf(kind: EndingKind): StreamEnding {
  if (kind === 'stalled') return { kind, silentMs: 25_000 };
  if (kind === 'failing') return { kind, status: 503 };
  if (kind === 'rate_limited') return { kind, retryAfterMs: null };
  if (kind === 'budget') return { kind, retryAfterMs: 0, resetsAt: new Date() };
  return { kind };
}

const explaining = new Set<EndingKind>([
  'no_credit',
  'spend_cap',
  'usage_cap',
  'budget',
  'degraded',
  'credentials',
  'bad_request',
  'no_rules',
  'rules_invalid',
]);

const pairs = (['x', 'firehose', 'bluesky'] as const).flatMap((platform) =>
  endingKinds.map((kind) => [platform, kind] as const),
);

test.each(pairs)('%s: the reaction to %s does not depend on the previous state', (platform, kind) => {
  const row = expected[platform][kind];
  const ending = endingOf(kind);
  const { ladder } = protocols[platform].reactions[kind];
  const step = (count: number, openMs: number | null, random: number, shows = newConnector.shows) =>
    afterEnding(
      protocols[platform],
      { shows, failures: { [ladder]: count - 1 } },
      { ending, openMs, random: () => random },
    );
  for (const [index, ms] of [...row.waitsMs.entries(), [99, row.lastMs] as const]) {
    const after = step(index + 1, null, 1);
    expect(after.connector.shows).toBe(row.shows);
    expect(after.next).toEqual({
      delayMs: ms,
      wakes: row.wakes ?? false,
      endsStaleConnections: index + 1 >= (row.endsStaleFrom ?? Number.POSITIVE_INFINITY),
      explainsGap: explaining.has(kind),
    });
    const least = row.jitter === 'exact' ? ms : Math.max(row.jitter ?? 0, Math.round(ms / 2));
    expect(step(index + 1, null, 0).next.delayMs).toBe(least);
    for (const shows of sourceStates) expect(step(index + 1, null, 1, shows)).toEqual(after);
  }
  const firstAfterOpen = step(1, 10, 1).next.delayMs;
  expect(firstAfterOpen).toBe(row.openedFirstMs ?? row.waitsMs[0]);
});

describe('the count of failures', () => {
  const dropped = { ending: { kind: 'dropped' }, openMs: 10, random: () => 1 } as const;
  const delays = (steps: ReadonlyArray<Parameters<typeof afterEnding>[2]>) => {
    let connector = newConnector;
    return steps.map((ended) => {
      if (ended.openMs !== null) connector = afterOpening(connector);
      const after = afterEnding(xProtocol, connector, ended);
      connector = after.connector;
      return after.next.delayMs;
    });
  };

  test('is reset only by a steady connection: a stream that opens and ends backs off', () => {
    expect(delays([dropped, dropped, dropped])).toEqual([0, 500, 750]);
    expect(delays([dropped, dropped, { ...dropped, openMs: steadyAfterMs }, dropped])).toEqual([
      0, 500, 0, 500,
    ]);
    expect(delays([dropped, { ...dropped, openMs: steadyAfterMs - 1 }])).toEqual([0, 500]);
  });

  test('is kept if kinds of failures alternate', () => {
    const failing = { ending: { kind: 'failing', status: 503 }, openMs: null, random: () => 1 } as const;
    expect(delays([dropped, failing, dropped, failing, dropped, failing])).toEqual([
      0, 5_000, 500, 10_000, 750, 20_000,
    ]);
  });

  test('is reset by a planned end, however short the stream', () => {
    const finished = { ending: { kind: 'finished' }, openMs: 50, random: () => 1 } as const;
    expect(delays([dropped, dropped, finished, dropped])).toEqual([0, 500, 1_000, 0]);
  });
});

test('waits for the end of a rate limit if it is later than our own wait', () => {
  const limited = (retryAfterMs: number) =>
    afterEnding(xProtocol, newConnector, {
      ending: { kind: 'rate_limited', retryAfterMs },
      openMs: null,
      random: () => 1,
    }).next.delayMs;
  expect([limited(1_000), limited(500_000)]).toEqual([60_000, 500_000]);
});
