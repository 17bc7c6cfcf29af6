import type { Platform } from '@earshot/contract';
import { describe, expect, test } from 'vitest';
import { nextAttempt } from './next-attempt.ts';
import type { StreamEnding } from './upstream-stream.ts';

interface Expected {
  readonly ending: StreamEnding;
  /** The longest wait after the 1st, 2nd, 3rd, … and 40th failure in a row. */
  readonly upToMs: readonly number[];
  readonly lastMs: number;
  /** The jitter takes away up to half; where there is none the wait is exact. */
  readonly jitter: 'half' | 'none' | { readonly atLeastMs: number };
  readonly wakes?: boolean;
}

const tcpX = { upToMs: [250, 500, 750, 1_000], lastMs: 10_000, jitter: 'half' } as const;
const doublingFirehose = { upToMs: [1_000, 2_000, 4_000, 8_000], lastMs: 60_000, jitter: 'half' } as const;
const rateLimit = {
  ending: { kind: 'rate_limited', retryAfterMs: null },
  upToMs: [60_000, 120_000, 240_000, 480_000],
  lastMs: 900_000,
  jitter: 'half',
} as const;
const slotBusy = {
  ending: { kind: 'slot_busy' },
  upToMs: [5_000, 10_000, 20_000, 40_000],
  lastMs: 60_000,
  jitter: 'half',
} as const;
const same = <Ending extends StreamEnding>(ending: Ending, ms: number, wakes = false) =>
  ({ ending, upToMs: [ms, ms, ms], lastMs: ms, jitter: 'none', wakes }) as const;
const logAway = {
  ending: { kind: 'log_unavailable' },
  upToMs: [1_000, 2_000, 4_000],
  lastMs: 30_000,
  jitter: 'half',
} as const;
const finished = {
  ending: { kind: 'finished' },
  upToMs: [1_000, 1_000],
  lastMs: 1_000,
  jitter: { atLeastMs: 200 },
} as const;

/** x.md §5.2 and firehose.md §6.4; a missing kind does not compile. */
const table: Record<Platform, Record<StreamEnding['kind'], Expected>> = {
  x: {
    dropped: { ...tcpX, ending: { kind: 'dropped' }, upToMs: [0, 500, 750] },
    stalled: { ...tcpX, ending: { kind: 'stalled', silentMs: 30_000 }, upToMs: [0, 500, 750] },
    finished,
    unreachable: { ...tcpX, ending: { kind: 'unreachable' } },
    failing: {
      ending: { kind: 'failing', status: 503 },
      upToMs: [5_000, 10_000, 20_000, 40_000],
      lastMs: 320_000,
      jitter: 'half',
    },
    rate_limited: rateLimit,
    slot_busy: slotBusy,
    no_rules: same({ kind: 'no_rules' }, 30_000, true),
    provisioning: same({ kind: 'provisioning' }, 60_000),
    refused: same({ kind: 'refused', reason: 'credentials' }, 300_000),
    log_unavailable: logAway,
    stopped: same({ kind: 'stopped' }, 0),
  },
  firehose: {
    dropped: { ...doublingFirehose, ending: { kind: 'dropped' }, upToMs: [400, 2_000, 4_000] },
    stalled: {
      ...doublingFirehose,
      ending: { kind: 'stalled', silentMs: 320_000 },
      upToMs: [400, 2_000, 4_000],
    },
    finished,
    unreachable: { ...doublingFirehose, ending: { kind: 'unreachable' } },
    failing: { ...doublingFirehose, ending: { kind: 'failing', status: 502 } },
    rate_limited: rateLimit,
    slot_busy: slotBusy,
    no_rules: same({ kind: 'no_rules' }, 30_000, true),
    provisioning: same({ kind: 'provisioning' }, 60_000),
    refused: same({ kind: 'refused', reason: 'request' }, 300_000),
    log_unavailable: logAway,
    stopped: same({ kind: 'stopped' }, 0),
  },
};

const cases = (['x', 'firehose'] as const).flatMap((platform) =>
  Object.entries(table[platform]).map(([kind, expected]) => [platform, kind, expected] as const),
);

test.each(cases)('%s: the waits after %s', (platform, _kind, expected) => {
  const { ending, jitter, upToMs, lastMs, wakes = false } = expected;
  const delay = (inARow: number, random: number) =>
    nextAttempt(platform, ending, { inARow, random: () => random });
  for (const [index, ms] of [...upToMs.entries(), [39, lastMs] as const]) {
    const least = jitter === 'half' ? ms / 2 : jitter === 'none' ? ms : jitter.atLeastMs;
    expect(delay(index + 1, 1), `${index + 1} in a row`).toEqual({ delayMs: ms, wakes });
    expect(delay(index + 1, 0).delayMs).toBe(least);
    expect(delay(index + 1, 0.5).delayMs).toBeGreaterThanOrEqual(least);
    expect(delay(index + 1, 0.5).delayMs).toBeLessThanOrEqual(ms);
  }
});

describe('what the upstream says', () => {
  const attempts = { inARow: 1, random: () => 1 };

  test('about the end of a rate limit counts when it is later than our own wait', () => {
    const limited = (retryAfterMs: number) =>
      nextAttempt('x', { kind: 'rate_limited', retryAfterMs }, attempts).delayMs;
    expect(limited(1_000)).toBe(60_000);
    expect(limited(500_000)).toBe(500_000);
  });

  test('about credit is asked again after a quarter of an hour', () => {
    for (const platform of ['x', 'firehose'] as const) {
      expect(nextAttempt(platform, { kind: 'refused', reason: 'credit' }, attempts).delayMs).toBe(900_000);
    }
  });

  test('the linear wait of X ends at 16 s', () => {
    expect(nextAttempt('x', { kind: 'unreachable' }, { inARow: 1_000, random: () => 1 }).delayMs).toBe(
      16_000,
    );
  });
});
