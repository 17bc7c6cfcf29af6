import type { RequestOf } from '@earshot/contract';
import type { Template } from '@earshot/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createCoverageStore } from '../src/coverage/coverage-store.sql.ts';
import { getCoverage } from '../src/coverage/get-coverage.ts';
import { coverageOf } from '../src/coverage/ledger.ts';
import type { Database } from '../src/engines/database.ts';
import { createCoverageIntervals } from '../src/ingest/coverage-intervals.sql.ts';
import { endFormerServices } from '../src/slots/slot-moving.sql.ts';
import { callOf } from './call-of.ts';
import { delayNextUpdate } from './late-update.ts';
import { createMigratedTemplate, openTestDatabase, seedRules } from './support.ts';

let template: Template;
beforeAll(async () => {
  template = await createMigratedTemplate();
});
afterAll(() => template?.[Symbol.asyncDispose]());

async function openLedger() {
  const stack = new AsyncDisposableStack();
  const clone = stack.use(await template.clone());
  const database = stack.use(openTestDatabase(clone.url));
  await seedLedger(database);
  return { database, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

async function seedLedger(database: Database): Promise<void> {
  await seedRules(database, 1);
  await database.run(
    `insert into rule_versions (rule_id, version, platform, value, translated_value, slot_id)
     values ('rule_1', 1, 'x', 'v1', 'v1', 'slot_1')`,
  );
}

function askCoverage(database: Database) {
  const store = createCoverageStore(database);
  const get = getCoverage({ store, rules: { exists: async () => true }, retentionDays: 30, nowMs: Date.now });
  return (request: RequestOf<'GetCoverage'>, accountId = 'acc_1') =>
    get(callOf('GetCoverage', request, accountId));
}

const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString();

/** The history of rule_1, as `state –minutes ago to –minutes ago`. */
async function history(database: Database, { xRuleDelayMs = 0, hours = 24 } = {}): Promise<string[]> {
  await database.run('update sources set rule_delay_ms = $1', [xRuleDelayMs]);
  const now = Date.now();
  const ledger = await createCoverageStore(database).read({
    accountId: 'acc_1',
    ruleId: 'rule_1',
    platform: null,
    from: new Date(now - hours * 3_600_000),
    to: new Date(now),
  });
  return coverageOf(ledger).flatMap(({ timeline }) =>
    timeline.map(({ state, from, to, reason }) => {
      const ago = (time: number) => (Number.isFinite(time) ? Math.round((now - time) / 60_000) : '…');
      return `${state}${reason ? ` (${reason})` : ''} ${ago(from)}–${ago(to)}`;
    }),
  );
}

const minutes = (count: number) => `now() - interval '${count} minutes'`;

describe('the ledger of a rule', () => {
  test('has the times in which it held its slot, also after the slot is gone', async () => {
    await using world = await openLedger();
    const { database } = world;
    await database.run(`update watches set from_at = ${minutes(60)}`);
    await database.run(`update slot_services set from_at = ${minutes(90)}`);
    await database.run(
      `insert into coverage (source_id, from_at, proven_until) values ('x:main', ${minutes(120)}, now())`,
    );
    await database.run(`delete from slot_holders`);
    await database.run(`update watches set to_at = ${minutes(30)}`);
    await database.run(`delete from slots`);
    expect(await history(database, { hours: 2 })).toEqual([
      'not_watched 120–60',
      'live 60–30',
      'not_watched 30–0',
    ]);
  });

  test.each([
    ['begins when X applies the rule, which is later than its registration', 60, 50, 45],
    ['begins when X applies the rule, although it took the slot in between', 47, 47, 45],
    ['begins when the rule takes a slot that X applies already', 20, 20, 20],
  ])('%s', async (_, watchedMinutes, startedMinutes, appliedMinutes) => {
    await using world = await openLedger();
    const { database } = world;
    await database.run(`update watches set from_at = ${minutes(watchedMinutes)}`);
    await database.run(`update slot_services set from_at = ${minutes(50)}`);
    await database.run(
      `insert into coverage (source_id, from_at, proven_until) values ('x:main', ${minutes(120)}, now())`,
    );
    expect(await history(database, { hours: 1, xRuleDelayMs: 5 * 60_000 })).toEqual([
      `not_watched 60–${startedMinutes}`,
      ...(startedMinutes > appliedMinutes ? [`starting ${startedMinutes}–${appliedMinutes}`] : []),
      `live ${appliedMinutes}–0`,
    ]);
  });

  test('follows its slot to another source, which serves it before the first source gives it up', async () => {
    await using world = await openLedger();
    const { database } = world;
    await database.run(`insert into sources (id, platform, capacity) values ('x:second', 'x', 10)`);
    await database.run(`update watches set from_at = ${minutes(60)}`);
    await database.run(`update slot_services set from_at = ${minutes(60)}`);
    await database.run(`update slots set state = 'wanted', source_id = 'x:second', moved_from = 'x:main'`);
    expect(await database.many('select source_id from slot_services where to_at is null')).toEqual([
      { source_id: 'x:main' },
    ]);
    // As the registrar of the new source does when the upstream has the rule.
    await endFormerServices(database, ['slot_1'], 20_000);
    await database.run(`update slots set state = 'registered'`);
    const services = await database.many<{ source_id: string; left_s: number | null }>(
      `select source_id, extract(epoch from to_at - now())::float8 as left_s from slot_services order by source_id`,
    );
    expect(services).toEqual([
      { source_id: 'x:main', left_s: expect.closeTo(20, 0) },
      { source_id: 'x:second', left_s: null },
    ]);
  });

  test('counts a registration from its new beginning if the slot was removed upstream and taken again', async () => {
    await using world = await openLedger();
    const { database } = world;
    await database.run(`update slots set state = 'releasing'`);
    await database.run(`update slots set state = 'registered'`);
    expect(await database.many('select 1 from slot_services')).toHaveLength(1);
    await database.run(`update slots set state = 'deleting'`);
    await database.run(`update slots set state = 'wanted', registered_at = null`);
    await database.run(`update slots set state = 'registered', registered_at = now()`);
    expect(
      await database.many('select to_at is null as open from slot_services order by from_at, open'),
    ).toEqual([{ open: false }, { open: true }]);
  });
});

describe('an open interval without a recent proof', () => {
  test.each([
    ['live', 'process_died'],
    ['log_unavailable', 'log_unavailable'],
  ])('ends at the last byte; while the source is %s the reason is %s', async (state, reason) => {
    await using world = await openLedger();
    const { database } = world;
    await database.run(`update watches set from_at = ${minutes(60)}`);
    await database.run(`update slot_services set from_at = ${minutes(60)}`);
    await database.run(
      `insert into coverage (source_id, from_at, proven_until, received_until)
       values ('x:main', ${minutes(60)}, ${minutes(4)}, ${minutes(5)})`,
    );
    await database.run('update sources set state = $1', [state]);
    expect(await history(database, { hours: 1 })).toEqual(['live 60–5', `gap (${reason}) 5–…`]);
  });
});

test('a platform has no gap before its first rule was registered', async () => {
  await using world = await openLedger();
  const { database } = world;
  await database.run(`update slots set created_at = ${minutes(60)}, registered_at = ${minutes(40)}`);
  await database.run(
    `insert into coverage (source_id, from_at, proven_until) values ('x:main', ${minutes(50)}, now())`,
  );
  const { intervals } = await askCoverage(database)({ from: hoursAgo(2), platform: 'x' });
  expect(intervals.map(({ state }) => state)).toEqual(['not_watched', 'live']);
});

test('without a rule, coverage is of the time in which the account had a rule on the platform', async () => {
  await using world = await openLedger();
  const { database } = world;
  await database.run(`update slots set registered_at = ${minutes(120)}`);
  await database.run(`update slot_services set from_at = ${minutes(120)}`);
  await database.run(
    `insert into coverage (source_id, from_at, proven_until) values ('x:main', ${minutes(120)}, now())`,
  );
  await database.run(`update watches set from_at = ${minutes(60)}`);
  const states = async (accountId: string) => {
    const { intervals, complete_through } = await askCoverage(database)({ from: hoursAgo(2) }, accountId);
    const shown = intervals.map(({ platform, state }) => `${platform} ${state}`);
    return { shown, isKnown: complete_through !== null };
  };
  expect(await states('acc_1')).toEqual({
    shown: ['x not_watched', 'x live', 'firehose not_watched'],
    isKnown: true,
  });
  await database.run(`delete from slot_holders`);
  await database.run(`update watches set to_at = ${minutes(30)}`);
  expect((await states('acc_1')).shown.slice(0, 3)).toEqual(['x not_watched', 'x live', 'x not_watched']);
  await database.run(`insert into accounts (id, name, plan) values ('acc_2', 'two', 'paid')`);
  expect(await states('acc_2')).toEqual({
    shown: ['x not_watched', 'firehose not_watched'],
    isKnown: false,
  });
});

describe('an interval', () => {
  test('of a crashed process is closed at its last proven moment when the next interval opens', async () => {
    await using world = await openLedger();
    const { database } = world;
    const store = createCoverageIntervals(database);
    const first = await store.openCoverage('x:main');
    await database.run(`update coverage set from_at = ${minutes(9)}, proven_until = ${minutes(5)}`);
    await store.openCoverage('x:main');
    // A holder that was paused and continues late changes nothing.
    expect(await store.proveCoverage('x:main', first, 0)).toBeNull();
    await store.closeCoverage('x:main', first.id, { because: 'dropped', uncoveredMs: 0 });
    const rows = await database.many(
      `select ended_because, gap_because, round(extract(epoch from now() - gap_from) / 60)::int as gap_ago,
         round(extract(epoch from now() - proven_until) / 60)::int as proven_ago from coverage order by id`,
    );
    expect(rows).toEqual([
      { ended_because: 'process_died', gap_because: 'not_listening_yet', gap_ago: 0, proven_ago: 5 },
      { ended_because: null, gap_because: 'process_died', gap_ago: 5, proven_ago: 0 },
    ]);
  });
});

test('loses the uncovered time at its end, and nothing from before its beginning', async () => {
  await using world = await openLedger();
  const { database } = world;
  const store = createCoverageIntervals(database);
  for (const [uncoveredMs, provenAgo] of [
    [0, 0],
    [120_000, 2],
    [900_000, 9],
  ] as const) {
    const { id } = await store.openCoverage('x:main');
    await database.run(`update coverage set from_at = ${minutes(9)} where id = $1`, [id]);
    await store.closeCoverage('x:main', id, { because: 'stalled', uncoveredMs });
    const row = await database.one(
      `select ended_because, round(extract(epoch from now() - proven_until) / 60)::int as proven_ago
       from coverage where id = $1`,
      [id],
    );
    expect(row).toEqual({ ended_because: 'stalled', proven_ago: provenAgo });
  }
});

const proofOf = (database: Database) =>
  database.one<{ proven_until: Date; received_until: Date; live_until: Date }>(
    'select proven_until, received_until, live_until from coverage join sources on sources.id = source_id',
  );

test('is not shortened by a proof that is stored late', async () => {
  await using world = await openLedger();
  const { database } = world;
  const store = createCoverageIntervals(database);
  const opened = await store.openCoverage('x:main');
  await using delay = await delayNextUpdate(database, 'coverage');
  const late = store.proveCoverage('x:main', opened, 0);
  await delay.waits();
  const newer = await store.proveCoverage('x:main', opened, 0);
  const before = await proofOf(database);
  await delay.release();
  expect(await late).toEqual(newer);
  expect(await proofOf(database)).toEqual(before);
  expect(
    await store.proveCoverage('x:main', { ...opened, provenUntil: newer ?? new Date(0) }, 0),
  ).not.toBeNull();
});

test('is not made live again by a proof that is stored after its end', async () => {
  await using world = await openLedger();
  const { database } = world;
  const store = createCoverageIntervals(database);
  const opened = await store.openCoverage('x:main');
  await store.closeCoverage('x:main', opened.id, { because: 'dropped', uncoveredMs: 0 });
  const before = await proofOf(database);
  expect(await store.proveCoverage('x:main', opened, 0)).toBeNull();
  expect(await proofOf(database)).toEqual(before);
});

test('is not made live again by a proof that began before its end and is stored after it', async () => {
  await using world = await openLedger();
  const { database } = world;
  const store = createCoverageIntervals(database);
  const opened = await store.openCoverage('x:main');
  await using delay = await delayNextUpdate(database, 'coverage');
  const late = store.proveCoverage('x:main', opened, 0);
  await delay.waits();
  await store.closeCoverage('x:main', opened.id, { because: 'dropped', uncoveredMs: 0 });
  const before = await proofOf(database);
  await delay.release();
  expect(await late).toBeNull();
  expect(await proofOf(database)).toEqual(before);
});

test('ends when its stream ended, although the database answers later', async () => {
  await using clone = await template.clone();
  await using database = openTestDatabase(clone.url, 1);
  await seedLedger(database);
  const store = createCoverageIntervals(database);
  const opened = await store.openCoverage('x:main');
  const [busy, free] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const holding = database.transaction(async () => {
    busy.resolve();
    await free.promise;
  });
  await busy.promise;
  const endedAt = Date.now();
  const closing = store.closeCoverage('x:main', opened.id, { because: 'dropped', uncoveredMs: 0 });
  setTimeout(free.resolve, 300);
  await Promise.all([holding, closing]);
  expect((await proofOf(database))?.proven_until.getTime()).toBeLessThan(endedAt + 100);
});

test('of a process that crashes while its stream is silent leaves the silence to the gap', async () => {
  await using world = await openLedger();
  const { database } = world;
  const store = createCoverageIntervals(database);
  const first = await store.openCoverage('x:main');
  await database.run(`update coverage set from_at = ${minutes(9)}`);
  await store.proveCoverage('x:main', first, 120_000);
  await store.openCoverage('x:main');
  const row = await database.one(
    `select gap_because, round(extract(epoch from now() - gap_from) / 60)::int as gap_ago
     from coverage order by id desc limit 1`,
  );
  expect(row).toEqual({ gap_because: 'process_died', gap_ago: 2 });
});

describe('with 100,000 rows in the ledger', () => {
  /** Rows of the ledger that one connection has read so far. */
  async function rowsRead(database: Database): Promise<number> {
    await database.one('select pg_stat_force_next_flush()');
    const row = await database.one<{ read: number }>(
      `select seq_tup_read + idx_tup_fetch as read from pg_stat_user_tables where relname = 'coverage'`,
    );
    return row?.read ?? 0;
  }

  async function readDuring(database: Database, work: () => Promise<unknown>): Promise<number> {
    const before = await rowsRead(database);
    await work();
    return (await rowsRead(database)) - before;
  }

  test('an answer reads only the rows of its window; control: without the index it reads all', async () => {
    await using clone = await template.clone();
    await using database = openTestDatabase(clone.url, 1);
    await seedLedger(database);
    await database.run(
      `insert into coverage (source_id, from_at, proven_until, ended_because)
       select 'x:main', at, at + interval '20 seconds', 'dropped'
       from generate_series(now() - interval '100000 minutes', now() - interval '1 minute', '1 minute') as at`,
    );
    await database.run(`update watches set from_at = ${minutes(100_000)}`);
    await database.run(`update slot_services set from_at = ${minutes(100_000)}`);
    await database.run('analyze coverage');
    const ask = askCoverage(database);
    const hour = () => ask({ rule_id: 'rule_1', from: hoursAgo(1) });
    const month = () => ask({ rule_id: 'rule_1', from: hoursAgo(24 * 30) });
    expect((await hour()).intervals.length).toBeGreaterThan(118);
    expect((await hour()).intervals.length).toBeLessThan(123);
    const bounded = await month();
    expect(bounded.intervals.length).toBeLessThanOrEqual(2_000);
    expect(Date.parse(bounded.from)).toBeGreaterThan(Date.now() - 2_100 * 60_000);
    expect(await readDuring(database, hour)).toBeLessThan(100);
    expect(await readDuring(database, month)).toBeLessThan(2_100);
    await database.run('drop index coverage_by_source');
    expect(await readDuring(database, hour)).toBeGreaterThan(99_000);
  });
});
