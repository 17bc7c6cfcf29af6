import { setTimeout as sleep } from 'node:timers/promises';
import { operations } from '@earshot/contract';
import { eventually, lengthOf, migratedTemplate, testNightly } from '@earshot/testkit';
import { describe, expect, test } from 'vitest';
import type { Database } from '../src/engines/database.ts';
import { Failure } from '../src/runtime/failure.ts';
import { type ReaderApi, type ReaderWorld, startReaderWorld } from './reader-world.ts';
import { listToday } from './support.ts';

/** For the long run, set `EARSHOT_READER_RECONNECTS=10000`. */
const reconnectsWanted = Number(
  process.env['EARSHOT_READER_RECONNECTS'] ?? lengthOf({ always: 300, nightly: 1_000 }),
);
const writers = 32;
const rules = 10;
const streams = 6;
const matchesPerBatch = 5;

const template = migratedTemplate();

interface Reading {
  readonly api: ReaderApi;
  readonly key: string;
  /** Set once all matches are written: how many the reader must see. */
  readonly toSee: () => number | null;
  readonly count: { reconnects: number };
  /** The cursor at the beginning of the log. */
  readonly start: string;
}

/** Adds what it sees to the second argument. */
type Follower = (reading: Reading, seen: string[]) => Promise<void>;

const isDone = (seen: readonly string[], { toSee }: Reading) => seen.length >= (toSee() ?? Infinity);

/** Pages of a list, again and again. */
const followByList: Follower = async ({ api, key, toSee }, seen) => {
  for (let cursor: string | null = null; ; ) {
    const complete = toSee() !== null;
    const { json } = await api.call(key, '/matches', {
      order: 'oldest',
      limit: 100,
      ...(cursor && { cursor }),
    });
    const page = operations.ListMatches.answer.parse(json);
    seen.push(...page.matches.map(({ id }) => id));
    cursor = page.next_cursor;
    if (complete && page.matches.length === 0) return;
  }
};

/** Long polls; every third is cancelled at a random moment and sent again. */
const followByLongPoll: Follower = async ({ api, key, toSee, count }, seen) => {
  let cursor: string | null = null;
  for (let n = 0; ; n++) {
    const complete = toSee() !== null;
    const body = { order: 'oldest', limit: 20, wait_seconds: complete ? 0 : 5, ...(cursor && { cursor }) };
    const patience = n % 3 === 0 ? AbortSignal.timeout(1 + Math.floor(Math.random() * 30)) : undefined;
    count.reconnects += 1;
    const answer = await api.call(key, '/matches', body, patience).catch(() => null);
    if (answer === null) continue;
    const page = operations.ListMatches.answer.parse(answer.json);
    seen.push(...page.matches.map(({ id }) => id));
    cursor = page.next_cursor;
    if (complete && page.matches.length === 0) return;
  }
};

/** A stream that is cut after a random number of events or milliseconds, and reconnects with the last id. */
function followByStream(cutAfterMax: number): Follower {
  return async (reading, seen) => {
    let lastEventId = reading.start;
    while (!isDone(seen, reading)) {
      let left = 1 + Math.floor(Math.random() * cutAfterMax);
      const connection = reading.api.stream(reading.key, {
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
      reading.count.reconnects += 1;
    }
  };
}

const someRules = () => Array.from({ length: matchesPerBatch }, () => 1 + Math.floor(Math.random() * rules));

/** What one run does beside its readers. */
interface Run {
  readonly cutAfterMax: number;
  readonly prepare?: (database: Database) => Promise<void>;
  /** Returns how many matches a reader must see. */
  readonly write: (world: ReaderWorld, seen: readonly (readonly string[])[]) => Promise<number>;
}

async function run({ cutAfterMax, write, ...options }: Run) {
  await using world = await startReaderWorld(template, { rules, writers, ...options });
  await using api = await world.startApi();
  const { key } = await world.newKey();
  let toSee: number | null = null;
  const { json } = await api.call(key, '/matches', { order: 'oldest' });
  const start = operations.ListMatches.answer.parse(json).next_cursor ?? '';
  const reading: Reading = { api, key, toSee: () => toSee, count: { reconnects: 0 }, start };
  const followers = [
    ...Array.from({ length: streams }, () => followByStream(cutAfterMax)),
    ...Array.from({ length: 3 }, () => followByLongPoll),
    followByList,
  ];
  const seen: string[][] = followers.map(() => []);
  const following = Promise.all(followers.map((follow, index) => follow(reading, seen[index] ?? [])));
  toSee = await write(world, seen);
  await following;
  const log: string[] = [];
  await followByList({ ...reading, toSee: () => 0 }, log);
  return { seen, log, reconnects: reading.count.reconnects };
}

/** Rolls some transactions back that could commit, and writes them again. */
async function commitOrNot(): Promise<void> {
  await sleep(Math.random() * 20);
  if (Math.random() < 0.1)
    throw new Failure('aborted', 'rolled back by the test', { details: { reason: 'conflict' } });
}

/** All writers at once, and every commit takes a while. */
async function writeAtOnce(world: ReaderWorld, batches: number): Promise<number> {
  let left = batches;
  const write = async () => {
    while (left-- > 0)
      await world.write(someRules(), { beforeCommit: commitOrNot, silent: Math.random() < 0.1 });
  };
  await Promise.all(Array.from({ length: writers }, write));
  return batches * matchesPerBatch;
}

/** The first batch has its positions before all others, and is committed when every reader is past them. */
async function writeOvertaken(
  world: ReaderWorld,
  batches: number,
  seen: readonly (readonly string[])[],
): Promise<number> {
  const tookPositions = Promise.withResolvers<void>();
  const overtaken = Promise.withResolvers<void>();
  const first = world.write(someRules(), {
    beforeCommit: () => {
      tookPositions.resolve();
      return overtaken.promise;
    },
  });
  await tookPositions.promise;
  for (let batch = 1; batch < batches; batch++) await world.write(someRules());
  await eventually(() => seen.every((one) => one.length > 0), { timeoutMs: 60_000 });
  overtaken.resolve();
  await first;
  return (batches - 1) * matchesPerBatch;
}

describe(`readers that reconnect again and again while ${writers} writers write`, () => {
  test('see each match exactly once, and all in the same order', async () => {
    const batches = Math.ceil(reconnectsWanted / 2);
    const { seen, log, reconnects } = await run({
      cutAfterMax: (2 * streams * batches * matchesPerBatch) / reconnectsWanted,
      write: (world) => writeAtOnce(world, batches),
    });
    expect(new Set(log).size).toBe(batches * matchesPerBatch);
    for (const one of seen) expect(one).toEqual(log);
    expect(reconnects).toBeGreaterThanOrEqual(reconnectsWanted);
  }, 600_000);

  testNightly(
    'control: without the commit order, every way to follow misses overtaken matches',
    {},
    async () => {
      const batches = 30;
      const { seen, log } = await run({
        cutAfterMax: 1_000,
        write: (world, sights) => writeOvertaken(world, batches, sights),
        prepare: withoutTurns,
      });
      expect(log).toHaveLength(batches * matchesPerBatch);
      for (const one of seen) expect(one).toEqual(log.slice(matchesPerBatch));
    },
  );
});

/** Sequences that never wait: positions are assigned to all writers at once, without waiting for earlier ones. */
async function withoutTurns(database: Database): Promise<void> {
  await database.run(
    `create or replace function take_turn(own_ticket bigint, before bigint, amount bigint) returns boolean
     language sql as 'select true'`,
  );
  await database.run(`drop table match_log cascade`);
  await database.run(
    `create view match_log as select last_value as last_position, 0::bigint as ticket, this_server() as server
     from match_positions`,
  );
  await database.run(`grant select on match_log to public`);
  await database.run(
    `create or replace function note_match_times(noted_at timestamptz, before bigint, amount bigint) returns void
     language sql as 'select'`,
  );
  // Without the commit order, writers would deadlock over what is kept beside the matches.
  await database.run(
    `create function count_nothing() returns trigger language plpgsql as $$ begin return null; end $$`,
  );
  await listToday(database);
  for (const table of ['usage', 'heads', 'day_heads']) {
    await database.run(
      `create trigger skip before insert on ${table} for each row execute function count_nothing()`,
    );
  }
}
