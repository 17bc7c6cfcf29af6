import { lengthOf, type Template, testNightly } from '@earshot/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Database, openDatabase } from '../src/engines/database.ts';
import type { LoggedEvent } from '../src/event-log/event-consumer.ts';
import { createMatchStore, type MatchStore } from '../src/matching/match-store.sql.ts';
import { storeBatch } from '../src/matching/match-worker.ts';
import { Failure } from '../src/runtime/failure.ts';
import { createLocalBells } from './local-bells.ts';
import { xEvent } from './stream-events.ts';
import { createMigratedTemplate, openTestDatabase, seedRules, silentTelemetry } from './support.ts';

let template: Template;
beforeAll(async () => {
  template = await createMigratedTemplate();
});
afterAll(() => template?.[Symbol.asyncDispose]());

/** The same limits as in `match-worker.ts`. */
const matchesAtOnceMax = 5_000;

interface Written {
  readonly matches: number;
  readonly settled: readonly number[];
  readonly ms: number;
}

/** Rules that all hold the slot of upstream rule 1, so that each event matches all of them. */
async function openRules(rules: number, open = openTestDatabase) {
  await using stack = new AsyncDisposableStack();
  const clone = stack.use(await template.clone());
  await using own = openTestDatabase(clone.url);
  await seedRules(own, rules);
  await own.run(`update slot_holders set slot_id = 'slot_1'`);
  const database = stack.use(open(clone.url));
  const writes: Written[] = [];
  const acknowledged: number[] = [];
  const deliver = async (events: number, store: MatchStore = createMatchStore(database)) => {
    const batch = Array.from({ length: events }, (_, n): LoggedEvent => {
      const nothing = () => undefined;
      const ack = () => void acknowledged.push(n + 1);
      return {
        sequence: n + 1,
        event: xEvent(n),
        body: '',
        loggedAt: new Date(),
        deliveries: 1,
        ack,
        message: { open: 1 },
        redeliver: nothing,
      };
    });
    const write: MatchStore['write'] = async (posts, matches, settled, deliveries) => {
      const startedAt = performance.now();
      const stored = await store.write(posts, matches, settled, deliveries);
      writes.push({ matches: matches.length, settled, ms: performance.now() - startedAt });
      return stored;
    };
    const options = { installation: 'here', bells: createLocalBells(), telemetry: silentTelemetry() };
    await storeBatch({ ...options, store: { ...store, write } }, batch);
  };
  const all = stack.move();
  return { database, writes, acknowledged, deliver, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

const countMatches = async (database: Database) =>
  (await database.one<{ count: number }>('select count(*) from matches'))?.count;
const settledIn = async (database: Database) =>
  (await database.many<{ s: number }>('select unnest(sequences) as s from settled_batches')).map(
    ({ s }) => s,
  );
const numbers = (count: number) => Array.from({ length: count }, (_, n) => n + 1);

test('a batch of events that many rules match is stored in transactions of a bounded size', async () => {
  await using rules = await openRules(1_000);
  const { database, writes, acknowledged } = rules;
  const events = lengthOf({ always: 13, nightly: 100 });
  await rules.deliver(events);
  expect(await countMatches(database)).toBe(events * 1_000);
  const sizes = await database.many<{ count: number }>('select count(*) from matches group by created_at');
  expect(Math.max(...sizes.map(({ count }) => count))).toBe(matchesAtOnceMax);
  // Stored events are settled, so that they are not processed again if the rest takes too long.
  expect(writes.map(({ settled }) => settled.length)).toEqual([
    ...Array.from({ length: Math.floor(events / 5) }, () => 5),
    ...(events % 5 === 0 ? [] : [events % 5]),
  ]);
  expect(acknowledged).toEqual(numbers(events));
  expect(await settledIn(database)).toEqual(numbers(events));
});

test('an event with more matches than a transaction is settled with its last match, and stored once if it is redelivered', async () => {
  await using rules = await openRules(11_000);
  const { database, writes, acknowledged } = rules;
  const store = createMatchStore(database);
  let left = 1;
  const cut: MatchStore = {
    ...store,
    write: async (...written) => {
      if (left-- === 0) throw new TypeError('the process died');
      return await store.write(...written);
    },
  };
  await rules.deliver(1, cut);
  expect(await countMatches(database)).toBe(matchesAtOnceMax);
  expect(acknowledged).toEqual([]);
  expect(await settledIn(database)).toEqual([]);
  await rules.deliver(1);
  expect(writes.slice(1).map(({ matches, settled }) => [matches, settled])).toEqual([
    [5_000, []],
    [5_000, []],
    [1_000, [1]],
  ]);
  expect(await countMatches(database)).toBe(11_000);
  expect(acknowledged).toEqual([1]);
});

test('a batch whose statement takes too long is halved until it passes', async () => {
  const statementTimeoutMs = 1_000;
  await using rules = await openRules(1, (url) =>
    openDatabase({ url, connectionsMax: 2, statementTimeoutMs, onIdleError: () => undefined }),
  );
  const { database, writes, acknowledged } = rules;
  await database.run(
    `create function take_long() returns trigger language plpgsql as $$ begin perform pg_sleep(0.05); return new; end $$`,
  );
  await database.run(
    'create trigger slow before insert on matches for each row execute function take_long()',
  );
  await rules.deliver(40);
  expect(await countMatches(database)).toBe(40);
  expect(acknowledged).toEqual(numbers(40));
  expect(writes.length).toBeGreaterThan(1);
});

test('if a single event takes too long, the events before it are not stored again', async () => {
  await using rules = await openRules(1_000);
  const { database, writes, acknowledged } = rules;
  const store = createMatchStore(database);
  const slow: MatchStore = {
    ...store,
    write: async (posts, matches, settled, deliveries) => {
      if (!settled.includes(13)) return await store.write(posts, matches, settled, deliveries);
      const cause = Object.assign(new Error('canceling statement due to statement timeout'), {
        code: '57014',
      });
      throw new Failure('unavailable', 'too long', { details: { reason: 'overloaded' }, cause });
    },
  };
  await expect(rules.deliver(13, slow)).rejects.toThrow('too long');
  expect(writes.flatMap(({ settled }) => settled)).toEqual(numbers(12));
  expect(acknowledged).toEqual(numbers(12));
});

testNightly(
  'a thousand events that a thousand rules match are stored, each transaction within 2 s',
  {},
  async () => {
    await using rules = await openRules(1_000);
    await rules.deliver(1_000);
    expect(await countMatches(rules.database)).toBe(1_000_000);
    expect(rules.acknowledged).toHaveLength(1_000);
    const slowest = Math.max(...rules.writes.map(({ ms }) => ms));
    console.info(
      `1,000,000 matches in ${rules.writes.length} transactions, the longest ${Math.round(slowest)} ms`,
    );
    expect(slowest).toBeLessThan(2_000);
  },
);
