import type { Platform } from '@earshot/contract';
import { describe, expect, test } from 'vitest';
import { blueskyProtocol } from '../upstream/bluesky/platform.ts';
import { type SpentCalls, spend } from '../upstream/call-budget.ts';
import { firehoseProtocol } from '../upstream/firehose/platform.ts';
import type { Protocol } from '../upstream/protocol.ts';
import type { StreamEnding } from '../upstream/upstream-stream.ts';
import { xProtocol } from '../upstream/x/platform.ts';
import { connectWaitMs } from './connect-budget.ts';
import { afterEnding, afterOpening, newConnector } from './connector.ts';

const hourMs = 3_600_000;

/** A small random generator: the same seed gives the same storm. */
function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** One kind of storm: how a connection ends and how long it was open. */
type Storm = (random: () => number) => { ending: StreamEnding; openMs: number | null };

const storms: Record<string, Storm> = {
  'opens and ends at once': () => ({ ending: { kind: 'dropped' }, openMs: 5 }),
  'ends whenever the failure count was reset': () => ({
    ending: { kind: 'dropped' },
    openMs: 60_001,
  }),
  'reports at once that it is finished': () => ({ ending: { kind: 'finished' }, openMs: 5 }),
  'ends at random': (random) => {
    const endings: StreamEnding[] = [
      { kind: 'dropped' },
      { kind: 'stalled', silentMs: 25_000 },
      { kind: 'unreachable' },
      { kind: 'failing', status: 503 },
      { kind: 'slow_reader' },
      { kind: 'connection_in_use' },
    ];
    const ending = endings[Math.floor(random() * endings.length)] ?? { kind: 'dropped' };
    return { ending, openMs: random() < 0.5 ? random() * 5_000 : null };
  },
};

/** The times of all attempts within six hours of virtual time. */
function weather(protocol: Protocol, storm: Storm, isBudgeted: boolean): number[] {
  const random = seeded(7);
  const attempts: number[] = [];
  let spent: SpentCalls = [];
  let connector = newConnector;
  let nowMs = 0;
  while (nowMs < 6 * hourMs && attempts.length < 100_000) {
    if (isBudgeted) {
      for (let ms = connectWaitMs(protocol.connects, spent, nowMs); ms > 0; ) {
        nowMs += ms;
        ms = connectWaitMs(protocol.connects, spent, nowMs);
      }
      spent = spend(protocol.connects, spent, nowMs);
    }
    attempts.push(nowMs);
    const { ending, openMs } = storm(random);
    nowMs += 30 + (openMs ?? 0);
    if (openMs !== null) connector = afterOpening(connector);
    const after = afterEnding(protocol, connector, { ending, openMs, random });
    connector = after.connector;
    nowMs += after.next.delayMs;
  }
  return attempts;
}

function mostInWindow(times: readonly number[], windowMs: number): number {
  let first = 0;
  return times.reduce((most, at, index) => {
    while ((times[first] ?? at) <= at - windowMs) first++;
    return Math.max(most, index - first + 1);
  }, 0);
}

const documented: Record<Platform, { protocol: Protocol; max: number; windowMs: number }> = {
  x: { protocol: xProtocol, max: 40, windowMs: 15 * 60_000 },
  firehose: { protocol: firehoseProtocol, max: 24, windowMs: 60_000 },
  bluesky: { protocol: blueskyProtocol, max: 30, windowMs: 5 * 60_000 },
};

describe.each(['x', 'firehose', 'bluesky'] as const)('six hours of disconnects on %s', (platform) => {
  const { protocol, max, windowMs } = documented[platform];

  test.each(Object.keys(storms))('that %s: no window has more attempts than the limit', (name) => {
    const attempts = weather(
      protocol,
      storms[name] ?? (() => ({ ending: { kind: 'dropped' }, openMs: 1 })),
      true,
    );
    expect(attempts.length).toBeGreaterThan(50);
    expect(mostInWindow(attempts, windowMs)).toBeLessThanOrEqual(max);
  });

  test('control: without the budget, a finished stream would be opened far more often', () => {
    const attempts = weather(protocol, () => ({ ending: { kind: 'finished' }, openMs: 5 }), false);
    expect(mostInWindow(attempts, windowMs)).toBeGreaterThan(50);
  });
});

test('control: on X the documented waits alone exceed the limit', () => {
  const attempts = weather(xProtocol, () => ({ ending: { kind: 'dropped' }, openMs: 5 }), false);
  expect(mostInWindow(attempts, documented.x.windowMs)).toBeGreaterThan(50);
});

test('attempts are spread near the limit, so that a storm is not followed by a long silence', () => {
  const { connects } = xProtocol;
  const waits: number[] = [];
  let spent: SpentCalls = [];
  let nowMs = 0;
  for (let attempt = 0; attempt < 100; attempt++) {
    const waitMs = connectWaitMs(connects, spent, nowMs);
    // One wait is enough.
    expect(connectWaitMs(connects, spent, nowMs + waitMs)).toBe(0);
    waits.push(waitMs);
    nowMs += waitMs;
    spent = spend(connects, spent, nowMs);
    nowMs += 100;
  }
  expect(waits.slice(0, 29)).toEqual(Array.from({ length: 29 }, () => 0));
  expect(waits[29]).toBeGreaterThan(20_000);
});
