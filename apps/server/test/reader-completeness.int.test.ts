import { operations } from '@earshot/contract';
import type { Template } from '@earshot/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Database } from '../src/engines/database.ts';
import { type ReaderApi, type ReaderWorld, startReaderWorld } from './reader-world.ts';
import { createMigratedTemplate } from './support.ts';

/** `EARSHOT_READER_RECONNECTS=10000` makes the long run of it. */
const reconnectsWanted = Number(process.env['EARSHOT_READER_RECONNECTS'] ?? '1000');
const writers = 32;
const rules = 10;
const streams = 6;
const matchesPerBatch = 5;

let template: Template;
beforeAll(async () => {
  template = await createMigratedTemplate();
});
afterAll(() => template?.[Symbol.asyncDispose]());

interface Reading {
  readonly api: ReaderApi;
  readonly key: string;
  /** Set once all matches are written: how many there are. */
  readonly written: () => number | null;
  readonly count: { reconnects: number };
  /** The cursor at the beginning of the log. */
  readonly start: string;
}

const isDone = (seen: readonly string[], { written }: Reading) => seen.length >= (written() ?? Infinity);

/** Pages of a list, again and again. */
async function followByList({ api, key, written }: Reading): Promise<string[]> {
  const seen: string[] = [];
  for (let cursor: string | null = null; ; ) {
    const complete = written() !== null;
    const { json } = await api.call(key, '/matches', {
      order: 'oldest',
      limit: 100,
      ...(cursor && { cursor }),
    });
    const page = operations.ListMatches.answer.parse(json);
    seen.push(...page.matches.map(({ id }) => id));
    cursor = page.next_cursor;
    if (complete && page.matches.length === 0) return seen;
  }
}

/** Long polls, of which every third is given up at a random moment and sent again. */
async function followByLongPoll(reading: Reading): Promise<string[]> {
  const { api, key, written, count } = reading;
  const seen: string[] = [];
  let cursor: string | null = null;
  for (let n = 0; ; n++) {
    const complete = written() !== null;
    const body = { order: 'oldest', limit: 20, wait_seconds: complete ? 0 : 5, ...(cursor && { cursor }) };
    const patience = n % 3 === 0 ? AbortSignal.timeout(1 + Math.floor(Math.random() * 30)) : undefined;
    count.reconnects += 1;
    const answer = await api.call(key, '/matches', body, patience).catch(() => null);
    if (answer === null) continue;
    const page = operations.ListMatches.answer.parse(answer.json);
    seen.push(...page.matches.map(({ id }) => id));
    cursor = page.next_cursor;
    if (complete && page.matches.length === 0) return seen;
  }
}

/** A stream that is cut after a random number of events, or of milliseconds, and comes back with the last id. */
async function followByStream(reading: Reading, cutAfterMax: number): Promise<string[]> {
  const { api, key, count } = reading;
  const seen: string[] = [];
  let lastEventId = reading.start;
  let lastSightAt = performance.now();
  while (!isDone(seen, reading)) {
    const before = seen.length;
    let left = 1 + Math.floor(Math.random() * cutAfterMax);
    const connection = api.stream(key, {
      lastEventId,
      onEvent: ({ id, event, data }) => {
        lastEventId = id;
        if (event === 'match') seen.push(String(JSON.parse(data).id));
        left -= 1;
        if (left <= 0 || isDone(seen, reading)) connection.cut();
      },
    });
    const timer = setTimeout(() => connection.cut(), 20 + Math.random() * 500);
    await connection.closed;
    clearTimeout(timer);
    count.reconnects += 1;
    if (seen.length > before || reading.written() === null) lastSightAt = performance.now();
    // In the control some matches never come.
    else if (performance.now() - lastSightAt > 3_000) break;
  }
  return seen;
}

async function writeAll(world: ReaderWorld, batches: number, delayMsMax: number): Promise<void> {
  let left = batches;
  const write = async () => {
    while (left-- > 0) {
      const numbers = Array.from({ length: matchesPerBatch }, () => 1 + Math.floor(Math.random() * rules));
      await world.write(numbers, { delayMs: Math.random() * delayMsMax, silent: Math.random() < 0.1 });
    }
  };
  await Promise.all(Array.from({ length: writers }, write));
}

async function run(
  batches: number,
  options: { delayMsMax: number; cutAfterMax: number; prepare?: (database: Database) => Promise<void> },
) {
  await using world = await startReaderWorld(template, { rules, writers, ...options });
  await using api = await world.startApi();
  const { key } = await world.newKey();
  let written: number | null = null;
  const { json } = await api.call(key, '/matches', { order: 'oldest' });
  const start = operations.ListMatches.answer.parse(json).next_cursor ?? '';
  const reading: Reading = { api, key, written: () => written, count: { reconnects: 0 }, start };
  const following = [
    ...Array.from({ length: streams }, () => followByStream(reading, options.cutAfterMax)),
    ...Array.from({ length: 3 }, () => followByLongPoll(reading)),
    followByList(reading),
  ];
  await writeAll(world, batches, options.delayMsMax);
  written = batches * matchesPerBatch;
  const seen = await Promise.all(following);
  const log = await followByList({ ...reading, written: () => 0 });
  return { seen, log, reconnects: reading.count.reconnects };
}

describe(`readers that come back again and again while ${writers} writers write`, () => {
  test('see each match exactly once, and all in the same order', async () => {
    const batches = Math.ceil(reconnectsWanted / 2);
    const { seen, log, reconnects } = await run(batches, {
      delayMsMax: 20,
      cutAfterMax: (2 * streams * batches * matchesPerBatch) / reconnectsWanted,
    });
    expect(new Set(log).size).toBe(batches * matchesPerBatch);
    for (const one of seen) expect(one).toEqual(log);
    expect(reconnects).toBeGreaterThanOrEqual(reconnectsWanted);
  }, 600_000);

  test('control: with positions that commits may overtake, every way to follow misses some', {
    retry: 2,
  }, async () => {
    const { seen, log } = await run(150, {
      delayMsMax: 200,
      // Who comes back all the time is behind, and what is settled by then cannot be missed.
      cutAfterMax: 1_000,
      prepare: withoutLock,
    });
    expect(log).toHaveLength(150 * matchesPerBatch);
    const misses = seen.map((one) => log.length - new Set(one).size);
    expect(Math.max(...misses.slice(0, streams))).toBeGreaterThan(0);
    expect(Math.max(...misses.slice(streams, -1))).toBeGreaterThan(0);
    expect(misses.at(-1)).toBeGreaterThan(0);
  });
});

/** In the place of the counter whose row is locked: a sequence, which hands out positions to everybody at once. */
async function withoutLock(database: Database): Promise<void> {
  await database.run(`create sequence positions increment by 100 start 100`);
  await database.run(`drop table match_log`);
  await database.run(`create view match_log as select (select last_value from positions) as last_position`);
  await database.run(
    `create function take_positions() returns trigger language plpgsql as $$
     begin new.last_position := nextval('positions'); return new; end $$`,
  );
  await database.run(
    `create trigger take instead of update on match_log for each row execute function take_positions()`,
  );
  // Without the lock, writers would lock each other up over the counts of rules.
  await database.run(
    `create function count_nothing() returns trigger language plpgsql as $$ begin return null; end $$`,
  );
  await database.run(
    `create trigger skip before insert on usage for each row execute function count_nothing()`,
  );
}
