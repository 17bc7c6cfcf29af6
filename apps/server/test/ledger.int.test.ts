import { eventually, type Template } from '@earshot/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createCoverageIntervals } from '../src/ingest/coverage-intervals.sql.ts';
import { type ListenOptions, listen } from '../src/ingest/listen.ts';
import { StreamEnded, type StreamEnding, type StreamFrame } from '../src/upstream/upstream-stream.ts';
import { createLocalBells } from './local-bells.ts';
import { createMigratedTemplate, openTestDatabase, seedRules, silentTelemetry } from './support.ts';

let template: Template;
beforeAll(async () => {
  template = await createMigratedTemplate();
});
afterAll(() => template?.[Symbol.asyncDispose]());

const post: StreamFrame = {
  kind: 'item',
  upstreamId: null,
  text: JSON.stringify({ data: { id: '1961112223334445556', text: 'hello' } }),
};

/**
 * One connection that was opened a minute ago, brings a post, and ends as `ending` says, or stays until it is
 * closed. Returns its entry of the ledger, and how long before now, and before the end, its last proven moment lies.
 */
async function connection(ending: StreamEnding | null, append: ListenOptions['eventLog']['append']) {
  await using clone = await template.clone();
  await using database = openTestDatabase(clone.url);
  await seedRules(database, 1);
  let endedAt: Date | undefined;
  const upstream: ListenOptions['upstream'] = {
    async *open(_from, signal) {
      yield { kind: 'opened' };
      await database.run(`update coverage set from_at = now() - interval '1 minute'`);
      yield post;
      if (!ending) await eventually(() => expect(signal.aborted).toBe(true), { timeoutMs: 30_000 });
      endedAt = (await database.one<{ at: Date }>('select now() as at'))?.at;
      if (ending) throw new StreamEnded(ending, 'as told');
      throw new StreamEnded({ kind: 'stopped' }, 'closed by us');
    },
  };
  const listening = listen(
    {
      sourceId: 'x:main',
      platform: 'x',
      upstream,
      eventLog: { append, consumedBy: async () => null, recordConsumed: () => undefined },
      intervals: createCoverageIntervals(database),
      bells: createLocalBells(),
      telemetry: silentTelemetry(),
      nowMs: Date.now,
    },
    new AbortController().signal,
  );
  await expect(listening).rejects.toThrow(StreamEnded);
  return await database.one<{ ended_because: string; unproven_ms: number; before_end_ms: number }>(
    `select ended_because, extract(epoch from now() - proven_until)::float8 * 1000 as unproven_ms,
       extract(epoch from $1::timestamptz - proven_until)::float8 * 1000 as before_end_ms from coverage`,
    [endedAt],
  );
}

test('the ledger covers a connection up to the moment it dropped', async () => {
  const entry = await connection({ kind: 'dropped' }, async () => undefined);
  expect(entry?.ended_because).toBe('dropped');
  expect(entry?.before_end_ms).toBeLessThan(2_000);
});

test('the ledger does not cover the silence of a stalled connection', async () => {
  const entry = await connection({ kind: 'stalled', silentMs: 30_000 }, async () => undefined);
  expect(entry?.ended_because).toBe('stalled');
  expect(entry?.unproven_ms).toBeGreaterThanOrEqual(30_000);
});

test('the ledger does not cover the time in which the event log took nothing', async () => {
  const awayMs = 3_000;
  const entry = await connection(null, async () => {
    await new Promise((resolve) => setTimeout(resolve, awayMs));
    throw new Error('the log is away');
  });
  expect(entry?.ended_because).toBe('log_unavailable');
  expect(entry?.unproven_ms).toBeGreaterThanOrEqual(awayMs - 100);
});
