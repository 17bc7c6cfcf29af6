import { setTimeout as sleep } from 'node:timers/promises';
import { eventually, type Template } from '@earshot/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Database, Sql } from '../src/engines/database.ts';
import { createMatchStore, type StoredBatch } from '../src/matching/match-store.sql.ts';
import { xEvent, xMatch } from './stream-events.ts';
import { createMigratedTemplate, openTestDatabase, seedRules } from './support.ts';

const soon = { timeoutMs: 10_000, intervalMs: 10 };

let template: Template;
beforeAll(async () => {
  template = await createMigratedTemplate();
});
afterAll(() => template?.[Symbol.asyncDispose]());

interface World extends AsyncDisposable {
  readonly database: Database;
  /** Matches of one rule with these posts, as match workers write them. */
  write(...numbers: number[]): Promise<StoredBatch>;
  positions(): Promise<number[]>;
}

async function open(connections = 12): Promise<World> {
  await using stack = new AsyncDisposableStack();
  const clone = stack.use(await template.clone());
  const database = stack.use(openTestDatabase(clone.url, connections));
  await seedRules(database, 1);
  const running = stack.move();
  return {
    database,
    write: (...numbers) => writeMatches(database, numbers),
    positions: async () => {
      const rows = await database.many<{ position: number }>(
        'select position from matches order by position',
      );
      return rows.map(({ position }) => position);
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

function writeMatches(database: Database, numbers: readonly number[]): Promise<StoredBatch> {
  const posts = numbers.map((number) => xEvent(number));
  const matches = posts.map((post) => xMatch(post, 'rule_1'));
  return createMatchStore(database).write(posts, matches, [], []);
}

interface Held {
  readonly ticket: number;
  readonly before: number;
  readonly pid: number;
  readonly sql: Sql;
  commit(): Promise<void>;
  rollBack(): Promise<void>;
}

/** A writer that has taken a sequence and a position, and continues on request. */
async function holdTicket(database: Database): Promise<Held> {
  const { promise: end, resolve, reject } = Promise.withResolvers<void>();
  const { promise: taken, ...take } = Promise.withResolvers<Omit<Held, 'commit' | 'rollBack'>>();
  const ended = database.transaction(async (sql) => {
    const row = await sql.one<{ ticket: number; before: number; pid: number }>(
      'select ticket, before, pg_backend_pid() as pid from take_positions(1)',
    );
    if (row) take.resolve({ ...row, sql });
    await end;
  });
  ended.catch(() => undefined);
  const held = await taken;
  return {
    ...held,
    async commit() {
      await held.sql.run('select take_turn($1, $2, 1)', [held.ticket, held.before]);
      resolve();
      await ended;
    },
    async rollBack() {
      reject(new Error('rolled back'));
      await ended.catch(() => undefined);
    },
  };
}

/** Waits until so many transactions wait for a lock of sequences. */
async function waiting(database: Database): Promise<number> {
  const row = await database.one<{ count: number }>(
    `select count(*) from pg_locks where locktype = 'advisory' and classid = 28 and not granted
       and database = (select oid from pg_database where datname = current_database())`,
  );
  return row?.count ?? 0;
}

const writerWaits = (database: Database) =>
  eventually(async () => expect(await waiting(database)).toBeGreaterThan(0), soon);

/** Creates a function again with a change of its text, which must occur in it. */
async function change(database: Database, name: string, from: string, to: string): Promise<void> {
  const row = await database.one<{ text: string }>('select pg_get_functiondef($1::regproc) as text', [name]);
  expect(row?.text).toContain(from);
  await database.run(row?.text.replace(from, to) ?? '');
}

describe('a writer with a later sequence', () => {
  test('stores its matches while an earlier one is open, and shows them after it', async () => {
    await using world = await open();
    const { database } = world;
    const first = await holdTicket(database);
    const second = world.write(1, 2);
    await writerWaits(database);
    expect(await world.positions()).toEqual([]);
    await first.commit();
    await second;
    expect(await world.positions()).toEqual([first.before + 2, first.before + 3]);
  });

  test('waits for all before it, also if the one between them was rolled back', async () => {
    await using world = await open();
    const { database } = world;
    const first = await holdTicket(database);
    const between = await holdTicket(database);
    await between.rollBack();
    const third = world.write(1);
    await writerWaits(database);
    expect(await world.positions()).toEqual([]);
    await first.commit();
    await third;
    expect(await world.positions()).toHaveLength(1);
  });

  test('control: one that checks only its predecessor overtakes the first', async () => {
    await using world = await open();
    const { database } = world;
    const rest = '(select ticket + 1 from match_log)';
    await change(database, 'take_turn', rest, 'own_ticket - 1');
    const first = await holdTicket(database);
    const between = await holdTicket(database);
    await between.rollBack();
    await world.write(1);
    expect((await world.positions())[0]).toBeGreaterThan(first.before + 1);
    await first.rollBack();
  });

  test('continues if the connection of an earlier one is cut', async () => {
    await using world = await open();
    const { database } = world;
    const first = await holdTicket(database);
    const second = world.write(1);
    await writerWaits(database);
    await database.run('select pg_terminate_backend($1)', [first.pid]);
    await second;
    expect(await world.positions()).toHaveLength(1);
    await first.rollBack();
  });

  test('is repeated at once if it and an earlier one wait for each other', async () => {
    await using world = await open();
    const { database } = world;
    await world.write(1);
    await database.run('delete from matches');
    const first = await holdTicket(database);
    // Makes the other writer detect the deadlock first and roll back.
    await first.sql.run(`set local deadlock_timeout = '60s'`);
    const second = world.write(1);
    await writerWaits(database);
    await first.sql.run(
      `insert into matches (position, account_id, rule_id, rule_version, platform, event_key, event_day)
       values ($1, 'acc_1', 'rule_1', 1, 'x', $2, $3) on conflict do nothing`,
      [first.before + 1, xEvent(1).key, xEvent(1).day],
    );
    await first.commit();
    expect(await second).toMatchObject({ counts: {} });
    expect(await world.positions()).toEqual([first.before + 1]);
    const row = await database.one<{ deadlocks: number }>(
      'select deadlocks from pg_stat_database where datname = current_database()',
    );
    expect(row?.deadlocks).toBe(1);
  });
});

describe('a writer that is cancelled while it takes its positions', () => {
  /** Another writer has the lock of the next sequence, so that this one stops at a point where no other writer may take positions. */
  async function cancelInside(world: World): Promise<void> {
    const { database } = world;
    const { promise: end, resolve } = Promise.withResolvers<void>();
    const { promise: isHeld, resolve: held } = Promise.withResolvers<void>();
    const holding = database.transaction(async (sql) => {
      await sql.run(
        `select pg_advisory_xact_lock(28, ticket_lock(last_value + case when is_called then 1 else 0 end)) from match_tickets`,
      );
      held();
      await end;
    });
    await isHeld;
    const cancelled = world.write(1).catch((error: unknown) => error);
    await writerWaits(database);
    await database.run(
      `select pg_cancel_backend(pid) from pg_locks where locktype = 'advisory' and classid = 28 and not granted
         and database = (select oid from pg_database where datname = current_database())`,
    );
    expect(await cancelled).toMatchObject({ cause: { code: '57014' } });
    resolve();
    await holding;
  }

  test('does not block others, although its connection stays open', async () => {
    await using world = await open();
    await cancelInside(world);
    const other = await Promise.all([world.write(2), world.write(3), world.write(4)]);
    expect(other).toHaveLength(3);
  });

  test('control: without the handler it blocks all others', async () => {
    await using world = await open();
    const { database } = world;
    await change(database, 'take_positions', 'others or query_canceled', 'division_by_zero');
    await cancelInside(world);
    const row = await database.one<{ count: number }>(
      `select count(*) from pg_locks where locktype = 'advisory' and classid = 28 and objid = 0 and granted
         and database = (select oid from pg_database where datname = current_database())`,
    );
    expect(row?.count).toBe(1);
  });
});

describe('several writers that find the log on another server', () => {
  test('jump ahead once, and report it once', async () => {
    await using world = await open();
    const { database } = world;
    await world.write(1);
    await database.run(`update match_log set server = 'another'`);
    const first = await holdTicket(database);
    const others = [2, 3, 4, 5].map((number) => world.write(number));
    await eventually(async () => expect(await waiting(database)).toBe(4), soon);
    await first.rollBack();
    await Promise.all(others);
    const [before = 0, ...after] = await world.positions();
    expect(first.before).toBeGreaterThan(2 ** 40);
    expect(after).toEqual([1, 2, 3, 4].map((n) => first.before + 1 + n));
    expect(await database.many('select from_position, to_position from position_jumps')).toEqual([
      { from_position: before, to_position: first.before + 1 },
    ]);
  });

  test('reuse no position if the database is restored to the moment between the jump and its commit', async () => {
    await using world = await open();
    const { database } = world;
    await world.write(1);
    await database.run(`update match_log set server = 'another'`);
    const taken = await holdTicket(database);
    await taken.rollBack();
    // Another start with the same state: its sequences know of the jump, and other nodes have seen later positions.
    await database.run(
      `create or replace function this_server() returns text language sql as 'select ''third'''`,
    );
    await sleep(2);
    await world.write(2);
    expect((await world.positions())[1]).toBeGreaterThan(taken.before + 1_000);
  });
});
