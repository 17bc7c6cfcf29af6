import * as fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import {
  type AttemptOutcome,
  afterAttempt,
  afterNothingToTry,
  batchMatchesMax,
  type EndpointState,
  failingMaxMs,
  isListed,
  outcomeOf,
  type Step,
  suspectsMax,
} from './endpoint-state.ts';

vi.setConfig({ testTimeout: 60_000 });

const second = 1_000;
const hour = 3_600 * second;
const even = () => 0.5;
const fresh: EndpointState = {
  position: 10,
  suspects: [],
  batchMax: batchMatchesMax,
  failures: 0,
  failingMs: null,
  troubled: false,
  disabledReason: null,
};
const batchOf = (matchCount: number) => ({ lastPosition: 10 + matchCount, matchCount });
const failed: AttemptOutcome = { kind: 'failed', retryAfterMs: null };

function after(state: EndpointState, matchCount: number, outcome: AttemptOutcome, latencyMs = 5): Step {
  return afterAttempt(state, batchOf(matchCount), { outcome, latencyMs }, even);
}

describe('every outcome on every kind of batch', () => {
  const afterOneRefusal = { ...fresh, failures: 1, failingMs: second };
  const withSuspects = (count: number) => ({
    ...afterOneRefusal,
    suspects: Array.from({ length: count }, (_, index) => index + 5),
  });
  const charged = { failures: 1, failingMs: 0, troubled: true };
  type Row = [
    string,
    EndpointState,
    number,
    AttemptOutcome,
    Partial<EndpointState>,
    retryInMs: number,
    boolean,
    readonly number[],
  ];
  const rows: Row[] = [
    ['delivered', fresh, 2, { kind: 'delivered' }, { position: 12 }, 0, false, []],
    [
      'delivered after failures',
      { ...afterOneRefusal, troubled: true, batchMax: 3 },
      1,
      { kind: 'delivered' },
      { position: 11, failures: 0, failingMs: null, troubled: false, batchMax: 6 },
      0,
      false,
      [],
    ],
    [
      'delivered after suspects',
      withSuspects(2),
      1,
      { kind: 'delivered' },
      { suspects: [] },
      0,
      false,
      [5, 6],
    ],
    ['failed', fresh, 2, failed, { position: 10, ...charged }, 5 * second, true, []],
    ['failed with Retry-After', fresh, 2, { kind: 'failed', retryAfterMs: hour }, charged, hour, true, []],
    ['gone', fresh, 2, { kind: 'gone' }, { position: 10, disabledReason: 'gone' }, 0, true, []],
    [
      'not sent',
      fresh,
      2,
      { kind: 'not_sent' },
      { position: 10, failures: 0, failingMs: null },
      15 * second,
      true,
      [],
    ],
    ['many refused', fresh, 9, { kind: 'refused' }, { batchMax: 4 }, 0, false, []],
    ['one refused', fresh, 1, { kind: 'refused' }, charged, 5 * second, true, []],
    [
      'one refused again',
      afterOneRefusal,
      1,
      { kind: 'refused' },
      { suspects: [11], batchMax: 1, failures: 1 },
      0,
      false,
      [],
    ],
    ['refused after a suspect', withSuspects(1), 1, { kind: 'refused' }, { suspects: [5, 11] }, 0, false, []],
    [
      'refused after many suspects',
      withSuspects(suspectsMax),
      1,
      { kind: 'refused' },
      { suspects: [], batchMax: 1, failures: 2, position: 10 },
      60 * second,
      false,
      [],
    ],
  ];
  test.each(rows)('%s', (...[, state, matchCount, outcome, expected, retryInMs, keepBatch, parked]) => {
    const step = after(state, matchCount, outcome);
    expect(step.state).toMatchObject(expected);
    expect(step).toMatchObject({ retryInMs, keepBatch, parked });
  });

  test('no match after the suspects: they are retried after a minute', () => {
    const { state, retryInMs, parked } = afterNothingToTry(withSuspects(2), even);
    expect(state).toMatchObject({ suspects: [], failures: 2 });
    expect({ retryInMs, parked }).toEqual({ retryInMs: 60 * second, parked: [] });
  });

  test('a slow success marks the endpoint as troubled, a fast one clears it', () => {
    expect(after(fresh, 1, { kind: 'delivered' }, 3_000).state.troubled).toBe(true);
    expect(after({ ...fresh, troubled: true }, 1, { kind: 'delivered' }, 100).state.troubled).toBe(false);
  });
});

test.each([
  [200, 'delivered'],
  [204, 'delivered'],
  [299, 'delivered'],
  [301, 'failed'],
  [400, 'refused'],
  [404, 'refused'],
  [408, 'failed'],
  [410, 'gone'],
  [413, 'refused'],
  [429, 'failed'],
  [500, 'failed'],
  [503, 'failed'],
])('the status %i means %s', (status, kind) => {
  expect(outcomeOf(status, null).kind).toBe(kind);
});

/** The state as the database returns it after some time. */
const later = (state: EndpointState, ms: number): EndpointState => ({
  ...state,
  failingMs: state.failingMs === null ? null : state.failingMs + ms,
});

/** Feeds one outcome at each scheduled attempt, in virtual time. */
function follow(outcome: AttemptOutcome, random: () => number) {
  let state = fresh;
  let now = 0;
  const attemptsAt: number[] = [];
  while (state.disabledReason === null && attemptsAt.length < 10_000) {
    attemptsAt.push(now);
    const step = afterAttempt(state, batchOf(2), { outcome, latencyMs: 1 }, random);
    state = later(step.state, step.retryInMs);
    now += step.retryInMs;
  }
  return { state, attemptsAt };
}

describe('an endpoint that never answers', () => {
  test('is retried after 5 s and then every minute, each wait within 20%', () => {
    fc.assert(
      fc.property(fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })), (randoms) => {
        const { attemptsAt } = follow(failed, () => Number(randoms.next().value));
        const waits = attemptsAt.slice(1).map((at, index) => at - (attemptsAt[index] ?? 0));
        const [first = 0, ...others] = waits;
        expect(first).toBeGreaterThanOrEqual(4 * second);
        expect(first).toBeLessThanOrEqual(6 * second);
        expect(Math.min(...others)).toBeGreaterThanOrEqual(48 * second - 1);
        expect(Math.max(...others)).toBeLessThanOrEqual(72 * second + 1);
      }),
      { numRuns: 20 },
    );
  });

  test('uses the full range of the jitter', () => {
    expect(follow(failed, () => 0).attemptsAt[1]).toBe(4 * second);
    // A sum of fractions just above it, without rounding.
    for (const random of [0.9999999999999981, 1])
      expect(follow(failed, () => random).attemptsAt[1]).toBe(6 * second);
  });

  test('is disabled after five days of only failures, and not before', () => {
    const { state, attemptsAt } = follow(failed, even);
    expect(state.disabledReason).toBe('failing');
    expect(state.position).toBe(fresh.position);
    expect(attemptsAt.at(-1)).toBeGreaterThanOrEqual(failingMaxMs);
    expect(attemptsAt.at(-2)).toBeLessThan(failingMaxMs);
    expect(attemptsAt.length).toBeGreaterThan(7_000);
  });

  test('is listed for its first three failures and then about once per hour', () => {
    const listed = Array.from({ length: 180 }, (_, index) => index + 1).filter(isListed);
    expect(listed).toEqual([1, 2, 3, 60, 120, 180]);
  });

  test('is retried no earlier than its Retry-After, up to a day', () => {
    const week: AttemptOutcome = { kind: 'failed', retryAfterMs: 7 * 24 * hour };
    expect(follow(week, even).attemptsAt.slice(0, 3)).toEqual([0, 24 * hour, 48 * hour]);
    const instant: AttemptOutcome = { kind: 'failed', retryAfterMs: 1 };
    expect(follow(instant, even).attemptsAt[1]).toBe(5 * second);
  });

  test('is never disabled for failures of Earshot itself', () => {
    const { state, attemptsAt } = follow({ kind: 'not_sent' }, even);
    expect(state).toMatchObject({ disabledReason: null, failures: 0, failingMs: null });
    expect(attemptsAt).toHaveLength(10_000);
  });
});

describe('an endpoint that refuses some matches', () => {
  /** Delivers matches 1..total to an endpoint that refuses every batch with a bad match. */
  function deliverAll(total: number, poison: ReadonlySet<number>, isDown: (now: number) => boolean) {
    let state: EndpointState = { ...fresh, position: 0 };
    let now = 0;
    let waitMs = 0;
    let batch: number[] = [];
    const delivered: number[] = [];
    const parked: number[] = [];
    let attempts = 0;
    while (state.position < total && attempts++ < 10_000 && state.disabledReason === null) {
      now += waitMs + 1;
      state = later(state, waitMs + 1);
      const from = state.suspects.at(-1) ?? state.position;
      if (batch.length === 0)
        batch = Array.from(
          { length: Math.min(state.batchMax, total - from) },
          (_, index) => from + 1 + index,
        );
      const lastPosition = batch.at(-1);
      if (lastPosition === undefined) {
        ({ state, retryInMs: waitMs } = afterNothingToTry(state, even));
        continue;
      }
      const kind = isDown(now) || batch.some((one) => poison.has(one)) ? 'refused' : 'delivered';
      const sent = { lastPosition, matchCount: batch.length };
      const step = afterAttempt(state, sent, { outcome: { kind }, latencyMs: 1 }, even);
      if (kind === 'delivered') delivered.push(...batch);
      parked.push(...step.parked);
      ({ state, retryInMs: waitMs } = step);
      if (!step.keepBatch) batch = [];
    }
    return { delivered, parked, attempts, elapsedMs: now };
  }

  test('gets all other matches once and in order, and exactly the refused ones are parked', () => {
    const positions = fc.uniqueArray(fc.integer({ min: 1, max: 299 }), { maxLength: 12 });
    fc.assert(
      fc.property(positions, (chosen) => {
        const poison = new Set(chosen);
        const { delivered, parked } = deliverAll(300, poison, () => false);
        const all = Array.from({ length: 300 }, (_, index) => index + 1);
        // A run longer than the search looks like an endpoint that refuses everything: it waits and is listed as
        // failing.
        fc.pre(!hasRun(poison, suspectsMax + 1));
        expect(delivered).toEqual(all.filter((one) => !poison.has(one)));
        expect(parked).toEqual([...poison].toSorted((a, b) => a - b));
      }),
      { numRuns: 300 },
    );
  });

  test('finds one bad match among 100 with few attempts', () => {
    const { attempts, elapsedMs } = deliverAll(300, new Set([57]), () => false);
    expect(attempts).toBeLessThan(40);
    expect(elapsedMs).toBeLessThan(10 * second);
  });

  test('gets two requests per minute while it refuses everything, and six about once per hour', () => {
    const { attempts } = deliverAll(300, new Set(), (now) => now < 3 * hour);
    // The first batch is split; then three searches of six in two minutes, three hourly ones, and the others.
    expect(attempts).toBeLessThan(2 * 180 + 6 * 6 + 20);
    expect(attempts).toBeGreaterThan(2 * 170);
  });

  test('finds a run of bad matches at the next hourly search, once later matches exist', () => {
    const poison = new Set([1, 2, 3, 4]);
    const { delivered, parked, elapsedMs } = deliverAll(8, poison, (now) => now < 10 * 60 * second);
    expect({ delivered, parked }).toEqual({ delivered: [5, 6, 7, 8], parked: [1, 2, 3, 4] });
    expect(elapsedMs).toBeLessThan(1.3 * hour);
  });

  test('loses no match while it refuses everything for some hours', () => {
    const { delivered, parked } = deliverAll(300, new Set(), (now) => now < 9 * hour);
    expect(delivered).toEqual(Array.from({ length: 300 }, (_, index) => index + 1));
    expect(parked).toEqual([]);
  });

  function hasRun(numbers: ReadonlySet<number>, length: number): boolean {
    return [...numbers].some((one) =>
      Array.from({ length }, (_, index) => one + index).every((n) => numbers.has(n)),
    );
  }
});
