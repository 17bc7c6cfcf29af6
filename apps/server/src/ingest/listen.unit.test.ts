import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createLocalBells } from '../../test/local-bells.ts';
import { silentTelemetry } from '../../test/support.ts';
import { StreamEnded, type StreamFrame } from '../upstream/upstream-stream.ts';
import type { CoverageEnd } from './coverage-intervals.sql.ts';
import { type ListenOptions, listen } from './listen.ts';

const post = (id: number): StreamFrame => ({
  kind: 'item',
  upstreamId: null,
  text: JSON.stringify({ data: { id: String(id), text: 'hello' }, matching_rules: [{ id: '1' }] }),
});

/** Runs a connection that is reset after these frames; returns how its coverage interval was closed. */
async function endOf(
  frames: (signal: AbortSignal) => AsyncIterable<StreamFrame>,
  append: () => Promise<void>,
  {
    prove = async () => new Date(0),
    mark = async () => undefined,
    recordLost = async () => undefined,
    deletions = null,
    onClosed,
  }: {
    prove?: () => Promise<Date | null>;
    mark?: ListenOptions['eventLog']['mark'];
    recordLost?: ListenOptions['intervals']['recordLost'];
    deletions?: ListenOptions['deletions'];
    onClosed?: () => void;
  } = {},
): Promise<CoverageEnd | null> {
  let closed: CoverageEnd | null = null;
  const listening = listen(
    {
      sourceId: 'x:main',
      platform: 'x',
      upstream: { open: (_, signal) => frames(signal) },
      eventLog: { append, consumedBy: async () => null, recordConsumed: () => undefined, mark },
      intervals: {
        openCoverage: async () => ({ id: 1, provenUntil: new Date(0) }),
        proveCoverage: prove,
        closeCoverage: async (_sourceId, _coverageId, end) => void (closed = end),
        uncoveredSince: async () => null,
        hasLostLog: async () => false,
        recordLost,
      },
      deletions,
      bells: createLocalBells(),
      telemetry: silentTelemetry(),
      nowMs: () => 0,
      ...(onClosed && { onClosed }),
    },
    new AbortController().signal,
  );
  await expect(listening).rejects.toThrow(StreamEnded);
  return closed;
}

/** Time advances only when a test says so: machine load must not look like a gap. */
beforeEach(() => void vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'setInterval'] }));
afterEach(() => void vi.useRealTimers());
const timePasses = (ms: number) => void vi.advanceTimersByTime(ms);

const heldUpMs = 400;
const windowSize = 256;

test('items left unread while the log was stuck are not covered after a reset', async () => {
  const logAnswers = Promise.withResolvers<void>();
  let [given, read] = [0, 0];
  const end = await endOf(
    async function* () {
      yield { kind: 'opened' };
      // More items than the window holds, so the reader is blocked. The rest is lost with the connection.
      for (let id = 1; id <= 300; id++) {
        read = id;
        yield post(id);
      }
      throw new StreamEnded({ kind: 'dropped' }, 'reset');
    },
    async () => {
      if (++given === windowSize) {
        await nextTurn();
        expect(read).toBe(windowSize + 1);
        timePasses(heldUpMs);
        logAnswers.resolve();
      }
      await logAnswers.promise;
    },
  );
  expect(end?.uncoveredMs).toBe(heldUpMs);
});

test('a reader that had caught up covers everything up to a reset', async () => {
  const end = await endOf(
    async function* () {
      yield { kind: 'opened' };
      for (let id = 1; id <= 300; id++) yield post(id);
      await nextTurn();
      timePasses(heldUpMs);
      throw new StreamEnded({ kind: 'dropped' }, 'reset');
    },
    async () => undefined,
  );
  expect(end?.uncoveredMs).toBe(0);
});

test('the silence of a stalled connection is not covered', async () => {
  const end = await endOf(
    async function* () {
      yield { kind: 'opened' };
      await nextTurn();
      throw new StreamEnded({ kind: 'stalled', silentMs: 30_000 }, 'silent');
    },
    async () => undefined,
  );
  expect(end).toEqual({ because: 'stalled', uncoveredMs: 30_000 });
});

describe('a stream of which few items match', () => {
  const tenSeconds = 10_000;

  test('has its position stored every ten seconds if it moved', async () => {
    const marks: string[] = [];
    await endOf(
      async function* () {
        yield { kind: 'opened' };
        timePasses(tenSeconds);
        yield { kind: 'passed', upstreamId: '1' };
        yield { kind: 'passed', upstreamId: '2' };
        await nextTurn();
        timePasses(tenSeconds);
        timePasses(tenSeconds);
        yield { kind: 'passed', upstreamId: '3' };
        await nextTurn();
        timePasses(tenSeconds);
        throw new StreamEnded({ kind: 'dropped' }, 'reset');
      },
      async () => undefined,
      { mark: async (_platform, _sourceId, position) => void marks.push(position) },
    );
    expect(marks).toEqual(['2', '3']);
  });

  test('resumes before a deletion that is not done yet', async () => {
    const marks: string[] = [];
    const removed = Promise.withResolvers<void>();
    await endOf(
      async function* () {
        yield { kind: 'opened' };
        yield { kind: 'passed', upstreamId: '1' };
        yield { kind: 'deleted', upstreamId: '2', platformPostId: 'at://b', key: 'b' };
        yield { kind: 'passed', upstreamId: '3' };
        timePasses(tenSeconds);
        removed.resolve();
        await nextTurn();
        yield { kind: 'passed', upstreamId: '4' };
        timePasses(tenSeconds);
        throw new StreamEnded({ kind: 'dropped' }, 'reset');
      },
      async () => undefined,
      {
        mark: async (_platform, _sourceId, position) => void marks.push(position),
        deletions: { appended: () => undefined, remove: () => removed.promise },
      },
    );
    expect(marks).toEqual(['1', '4']);
  });

  test('has gaps that are older than what the platform replays', async () => {
    const lost: Date[] = [];
    const before = new Date(1);
    await endOf(
      async function* () {
        yield { kind: 'opened' };
        yield { kind: 'lost', before };
        throw new StreamEnded({ kind: 'dropped' }, 'reset');
      },
      async () => undefined,
      { recordLost: async (_sourceId, at) => void lost.push(at) },
    );
    expect(lost).toEqual([before]);
  });
});

test('items missing in the log at the end are not covered, and the ledger shows that first', async () => {
  const logAnswers = Promise.withResolvers<void>();
  let isOver = false;
  const listening = endOf(
    async function* () {
      yield { kind: 'opened' };
      yield post(1);
      timePasses(heldUpMs);
      throw new StreamEnded({ kind: 'dropped' }, 'reset');
    },
    () => logAnswers.promise,
    {
      onClosed: () =>
        void nextTurn()
          .then(() => expect(isOver).toBe(false))
          .then(() => logAnswers.resolve()),
    },
  ).finally(() => (isOver = true));
  expect((await listening)?.uncoveredMs).toBe(heldUpMs);
});

test('a stream is closed if the log refuses items for a minute, even with a full window', async () => {
  const logAnswers = Promise.withResolvers<void>();
  const end = await endOf(
    async function* (signal) {
      yield { kind: 'opened' };
      void nextTurn().then(() => timePasses(62_000));
      for (let id = 1; id <= 300; id++) {
        if (signal.aborted) throw new StreamEnded({ kind: 'stopped' }, 'closed by Earshot');
        yield post(id);
      }
    },
    () => logAnswers.promise,
    { onClosed: () => logAnswers.resolve() },
  );
  expect(end).toMatchObject({ because: 'log_unavailable' });
  expect(end?.uncoveredMs).toBeGreaterThan(60_000);
});

/** A connection that lasts this many seconds, unless we end it. */
async function* connectionOf(seconds: number, signal: AbortSignal): AsyncGenerator<StreamFrame> {
  yield { kind: 'opened' };
  for (let second = 0; second < seconds; second++) {
    timePasses(1_000);
    await nextTurn();
    signal.throwIfAborted();
    yield { kind: 'alive' };
  }
  throw new StreamEnded({ kind: 'dropped' }, 'reset');
}
const accept = async () => undefined;

test('two refused proofs in a row end the connection, and nothing since is covered', async () => {
  const end = await endOf((signal) => connectionOf(5, signal), accept, { prove: async () => null });
  expect(end).toEqual({ because: 'log_lost', uncoveredMs: null });
});

test('a connection survives one refused proof', async () => {
  let proofs = 0;
  const prove = async () => (++proofs === 2 ? null : new Date(proofs));
  const end = await endOf((signal) => connectionOf(5, signal), accept, { prove });
  expect({ end, proofs }).toMatchObject({ end: { because: 'dropped' }, proofs: 5 });
});

test('a proof waits for the previous one, but not on a dead connection', async () => {
  const provenAt: number[] = [];
  const startedAt = performance.now();
  const prove = () => {
    provenAt.push(performance.now() - startedAt);
    return new Promise<never>(() => undefined);
  };
  await endOf((signal) => connectionOf(8, signal), accept, { prove });
  expect(provenAt).toEqual([1_000, 6_000]);
});

test('after a log loss a source resumes where the ledger was cut, not at its last event', async () => {
  const since = new Date(0);
  const starts: unknown[] = [];
  for (const isLost of [false, true]) {
    const listening = listen(
      {
        sourceId: 'x:main',
        platform: 'x',
        upstream: {
          open: (start) => {
            starts.push(start);
            throw new StreamEnded({ kind: 'dropped' }, 'reset');
          },
        },
        eventLog: {
          append: async () => undefined,
          consumedBy: async () => ({ position: 'the last event', at: since }),
          recordConsumed: () => undefined,
          mark: async () => undefined,
        },
        intervals: {
          openCoverage: async () => ({ id: 1, provenUntil: since }),
          proveCoverage: async () => since,
          closeCoverage: async () => undefined,
          uncoveredSince: async () => since,
          hasLostLog: async () => isLost,
          recordLost: async () => undefined,
        },
        bells: createLocalBells(),
        telemetry: silentTelemetry(),
        nowMs: () => 0,
      },
      new AbortController().signal,
    );
    await expect(listening).rejects.toThrow(StreamEnded);
  }
  expect(starts).toEqual([
    { after: 'the last event', afterAt: since, since, now: since },
    { after: null, afterAt: since, since, now: since },
  ]);
});
