import { eventually, migratedTemplate } from '@earshot/testkit';
import { describe, expect, test } from 'vitest';
import { forgetLedger } from '../src/coverage/forget-ledger.ts';
import type { Database } from '../src/engines/database.ts';
import { createParsedRules } from '../src/language/explain-match.ts';
import { createMatchStore, type MatchStore } from '../src/matching/match-store.sql.ts';
import { storeBatch } from '../src/matching/match-worker.ts';
import { daysAhead, ensurePartitions } from '../src/matching/partitions.ts';
import { removeExpiredDays } from '../src/matching/retention.ts';
import { createFollowing } from '../src/readers/follow-matches.ts';
import { listMatches } from '../src/readers/list-matches.ts';
import { createMatchReader } from '../src/readers/match-reader.sql.ts';
import { openMatchTail } from '../src/readers/match-tail.ts';
import { createTailReader } from '../src/readers/tail-reader.sql.ts';
import { createViews } from '../src/readers/views.ts';
import { createCursors } from '../src/runtime/cursor.ts';
import { Failure } from '../src/runtime/failure.ts';
import { callOf } from './call-of.ts';
import { createLocalBells } from './local-bells.ts';
import { xEvent } from './stream-events.ts';
import { openTestDatabase, seedRules, silentTelemetry } from './support.ts';

const template = migratedTemplate();

const dayMs = 86_400_000;
const daysAgo = (days: number) => new Date(Date.now() - days * dayMs).toISOString().slice(0, 10);

/** Two rules; `store` writes an event of a day for each of the rules. */
async function openStore(changed: Partial<MatchStore> = {}) {
  await using stack = new AsyncDisposableStack();
  const clone = stack.use(await template.clone());
  const database = stack.use(openTestDatabase(clone.url));
  await seedRules(database, 2);
  const store = { ...createMatchStore(database), ...changed };
  const all = stack.move();
  const write = async (number: number, day: string, rules = ['1']): Promise<void> => {
    const event = xEvent(number, { day, rules: rules.map((id) => ({ upstreamRuleId: id, tag: null })) });
    const nothing = () => undefined;
    const logged = {
      sequence: number,
      event,
      body: '',
      loggedAt: null,
      deliveries: 1,
      ack: nothing,
      message: { open: 1 },
      redeliver: nothing,
    };
    await storeBatch(
      { installation: 'here', store, bells: createLocalBells(), telemetry: silentTelemetry() },
      [logged],
    );
  };
  const parsedRules = createParsedRules();
  const reader = createMatchReader(database);
  const tail = await openMatchTail({
    reader: createTailReader(database),
    parsedRules,
    bells: createLocalBells(),
    telemetry: silentTelemetry(),
  });
  const list = listMatches({
    database,
    reader,
    rules: { exists: async () => true },
    coverage: async () => ({ complete_through: null, gaps: [] }),
    cursors: createCursors(Buffer.alloc(32)),
    following: createFollowing({ tail, reader, parsedRules }),
    views: createViews({ database, hasJudge: false }),
  });
  const follow = (request: { cursor?: string | null; rule_id?: string; limit?: number } = {}) => {
    const { cursor, rule_id, limit = 100 } = request;
    const filter = { ...(cursor && { cursor }), ...(rule_id && { rule_id }) };
    return list(callOf('ListMatches', { order: 'oldest', limit, ...filter }));
  };
  return { database, write, follow, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

async function removeOlderThan(database: Database, retentionDays: number): Promise<string[]> {
  const removed: string[] = [];
  const dayRemoved = ({ table }: { table: string }) => void removed.push(table);
  await removeExpiredDays({ database, retentionDays, telemetry: { dayRemoved } });
  await forgetLedger(database, 30);
  return removed;
}

const partitionOf = (day: string) => `matches_${day.replaceAll('-', '')}`;

/** The public failure, or null. */
async function failureOf(promise: Promise<unknown>): Promise<Failure | null> {
  return promise.then(
    () => null,
    (error: unknown) => (error instanceof Failure ? error : null),
  );
}

describe('retention', () => {
  test('removes the days before, also if a removal was interrupted, and keeps the others', async () => {
    await using opened = await openStore();
    const { database, write, follow } = opened;
    for (const [number, age] of [29, 20, 11, 3, 0].entries()) await write(number, daysAgo(age));
    // As a process leaves it that crashed between detaching and dropping.
    await database.run(`alter table matches detach partition ${partitionOf(daysAgo(29))}`);
    const removed = await removeOlderThan(database, 10);
    expect(removed.filter((name) => name.startsWith('matches'))).toEqual(
      [29, 20, 11].map((age) => partitionOf(daysAgo(age))),
    );
    expect((await follow()).matches.map((match) => match.platform_post_id)).toEqual(
      [3, 4].map((number) => xEvent(number).key),
    );
    expect(await removeOlderThan(database, 10)).toEqual([]);
  });

  test('blocks no caller: matches are written and read while a long reader delays it', async () => {
    await using opened = await openStore();
    const { database, write, follow } = opened;
    await write(1, daysAgo(29));
    await write(2, daysAgo(0));
    const reading = Promise.withResolvers<void>();
    const longReader = database.transaction(async (sql) => {
      await sql.one('select count(*) from matches');
      await reading.promise;
    });
    const removing = removeOlderThan(database, 10);
    const heldUp = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%detach partition%'
      and datname = current_database() and pid <> pg_backend_pid()`;
    await eventually(async () => (await database.many(heldUp)).length > 0, { timeoutMs: 10_000 });
    await write(3, daysAgo(0));
    expect((await follow()).matches.length).toBeGreaterThanOrEqual(2);
    reading.resolve();
    await longReader;
    expect(await removing).toContain(partitionOf(daysAgo(29)));
  });

  test('counts from the newest event, not from a clock that has jumped ahead', async () => {
    await using opened = await openStore();
    const { database, write } = opened;
    await write(1, daysAgo(9));
    await jumpAhead(database, 40);
    expect(await removeOlderThan(database, 30)).toEqual([]);
    const { now } = (await database.one<{ now: Date }>('select now() as now')) ?? {};
    expect((now?.getTime() ?? 0) - Date.now()).toBeGreaterThan(39 * dayMs);
  });
});

describe('the coverage history', () => {
  /** The remaining intervals, each with the day it ends on: a day does not depend on the hour of the test. */
  const kept = async (database: Database) => {
    const rows = await database.many<{ what: string; day: string }>(
      `select what, to_at::date::text as day from (
         select 'coverage' as what, proven_until as to_at from coverage
         union all select 'repair', proven_until from gap_repairs join coverage on id = coverage_id
         union all select 'watch', to_at from watches union all select 'service', to_at from slot_services
         union all select 'missing', to_at from slot_gaps union all select 'spent', day from repair_spending
       ) as histories order by what, day`,
    );
    return rows.map(({ what, day }) => `${what} ${day}`);
  };
  const write = async (database: Database, day: string) => {
    const [from, to] = [`'${day}'::timestamptz - interval '1 day'`, `'${day}'::timestamptz`];
    await database.run(
      `with interval as (
         insert into coverage (source_id, from_at, proven_until) values ('x:main', ${from}, ${to}) returning id
       ) insert into gap_repairs (coverage_id, slot_id, via, state) select id, 'slot_9', 'search', 'done' from interval`,
    );
    await database.run(
      `insert into watches (rule_id, account_id, platform, slot_id, from_at, to_at)
       values ('rule_1', 'acc_1', 'x', 'slot_9', ${from}, ${to})`,
    );
    for (const [table, column] of [
      ['slot_services', `source_id,`],
      ['slot_gaps', ''],
    ]) {
      await database.run(
        `insert into ${table} (slot_id, ${column} from_at, to_at)
         values ('slot_9', ${column === '' ? '' : "'x:main',"} ${from}, ${to})`,
      );
    }
    await database.run(`insert into repair_spending (day, posts) values ('${day}', 1)`);
  };
  const all = (day: string) =>
    ['coverage', 'missing', 'repair', 'service', 'spent', 'watch'].map((what) => `${what} ${day}`);

  test('is kept as long as a request can cover it, and no longer', async () => {
    await using opened = await openStore();
    const { database } = opened;
    await database.run('delete from watches; delete from slot_services');
    const recent = daysAgo(29);
    for (const day of [daysAgo(90), recent]) await write(database, day);
    await opened.write(1, daysAgo(0));
    await removeOlderThan(database, 10);
    expect(await kept(database)).toEqual(all(recent));
  });

  test('is kept for a day longer than matches, however long those are kept', async () => {
    await using opened = await openStore();
    const { database } = opened;
    await database.run('delete from watches; delete from slot_services');
    for (const day of [daysAgo(50), daysAgo(29)]) await write(database, day);
    await opened.write(1, daysAgo(0));
    await forgetLedger(database, 60);
    expect(await kept(database)).toHaveLength(12);
    await forgetLedger(database, 40);
    expect(await kept(database)).toEqual(all(daysAgo(29)));
  });

  test('keeps the last interval of a source, and does not follow a clock that has jumped ahead', async () => {
    await using opened = await openStore();
    const { database } = opened;
    await database.run('delete from watches; delete from slot_services');
    const recent = daysAgo(29);
    await write(database, recent);
    await opened.write(1, daysAgo(20));
    await jumpAhead(database, 40);
    await removeOlderThan(database, 10);
    expect(await kept(database)).toEqual(all(recent));
    await opened.write(2, new Date(Date.now() + 40 * dayMs).toISOString().slice(0, 10));
    await removeOlderThan(database, 10);
    expect(await kept(database)).toEqual([`coverage ${recent}`, `repair ${recent}`]);
  });
});

describe('a follower whose cursor is older than what is kept', () => {
  test('is refused once, then continues with all that is left', async () => {
    await using opened = await openStore();
    const { database, write, follow } = opened;
    await write(0, daysAgo(20));
    const { next_cursor: cursor } = await follow();
    await write(1, daysAgo(2));
    await write(2, daysAgo(19));
    await write(3, daysAgo(1));
    await removeOlderThan(database, 10);
    const failure = await failureOf(follow({ cursor }));
    expect(failure).toMatchObject({ code: 'out_of_range' });
    const oldest = failure?.details.oldest_cursor ?? '';
    const first = await follow({ cursor: oldest, limit: 1 });
    expect(first.matches.map((match) => match.platform_post_id)).toEqual([xEvent(1).key]);
    const second = await follow({ cursor: first.next_cursor });
    expect(second.matches.map((match) => match.platform_post_id)).toEqual([xEvent(3).key]);
    await write(4, daysAgo(0));
    expect((await follow({ cursor: second.next_cursor })).matches).toHaveLength(1);
  });

  test('is not interrupted if it had seen all removed matches, or if only other rules lost some', async () => {
    await using opened = await openStore();
    const { database, write, follow } = opened;
    await write(0, daysAgo(20), ['2']);
    await write(1, daysAgo(20), ['1']);
    const all = await follow();
    const quiet = await follow({ rule_id: 'rule_2' });
    await write(2, daysAgo(19), ['1']);
    await write(3, daysAgo(0), ['1']);
    const later = await follow({ cursor: all.next_cursor });
    await removeOlderThan(database, 10);
    expect((await follow({ cursor: later.next_cursor })).matches).toEqual([]);
    expect((await follow({ cursor: quiet.next_cursor, rule_id: 'rule_2' })).matches).toEqual([]);
    expect(await failureOf(follow({ cursor: all.next_cursor }))).toMatchObject({ code: 'out_of_range' });
  });
});

describe('a clock that is 40 days ahead', () => {
  test('costs no event: those of the old time and those of the new one are stored', async () => {
    await using opened = await openStore();
    const { database, write, follow } = opened;
    await jumpAhead(database, 40);
    const daysBefore = await daysAhead(database);
    expect(daysBefore).toBeLessThan(0);
    await write(1, daysAgo(0));
    // No partitions were made since the jump: the event makes its own.
    await write(2, daysAgo(-40));
    await ensurePartitions(database);
    expect(await daysAhead(database)).toBe(14);
    await write(3, daysAgo(-54));
    await write(4, daysAgo(0));
    // Between the two times there are days without a partition.
    await write(5, daysAgo(-20));
    expect((await follow()).matches).toHaveLength(5);
  });

  test('control: if partitions were only made every hour, events of the new time would be lost', async () => {
    await using opened = await openStore({ makeDays: async () => undefined });
    await jumpAhead(opened.database, 40);
    await opened.write(1, daysAgo(0));
    await opened.write(2, daysAgo(-40));
    expect((await opened.follow()).matches).toHaveLength(1);
  });
});

/** Our statements call `now()`: from here on the database returns a later time. */
async function jumpAhead(database: Database, days: number): Promise<void> {
  await database.run(
    `create function public.now() returns timestamptz language sql stable
     as $$ select pg_catalog.now() + interval '${days} days' $$`,
  );
  const name = (await database.one<{ name: string }>('select current_database() as name'))?.name;
  await database.run(`alter database ${name} set search_path = public, pg_catalog`);
  // Open connections keep the old path.
  await database.run(
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`,
  );
  await database.run('set search_path = public, pg_catalog');
}
