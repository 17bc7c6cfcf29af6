import type { Notice } from '@earshot/contract';
import { migratedTemplate, type TestDatabase } from '@earshot/testkit';
import { beforeEach, describe, expect, test } from 'vitest';
import { createAlertStep } from '../src/alerts/alert-worker.ts';
import { type AlertStore, createAlertStore } from '../src/alerts/alerts.sql.ts';
import { defaultPrices } from '../src/billing/prices.ts';
import { createCoverageStore } from '../src/coverage/coverage-store.sql.ts';
import type { Database, Sql } from '../src/engines/database.ts';
import { readInstallation } from '../src/engines/installation.ts';
import { createMatchStore } from '../src/matching/match-store.sql.ts';
import { storeBatch } from '../src/matching/match-worker.ts';
import { createNoticeReader } from '../src/notices/notice-reader.sql.ts';
import { dyingAt } from './budget-world.ts';
import { createLocalBells } from './local-bells.ts';
import { xEvent } from './stream-events.ts';
import { openTestDatabase, seedRules, silentTelemetry } from './support.ts';

/*
 * rule_1 has had about ten matches an hour for eight days, and alerts of medium sensitivity. The clock of these tests is
 * `matched_through`: 0 is nine hours ago. rule_2, on the same source, has none.
 */

const template = migratedTemplate();
const [minuteMs, hourMs] = [60_000, 3_600_000];
const bells = createLocalBells();
let clone: TestDatabase;
let database: Database;
let start: number;
let delivered = 0;
beforeEach(async () => {
  start = Math.floor(Date.now() / (15 * minuteMs)) * 15 * minuteMs - 9 * hourMs;
  clone = await template.clone();
  database = openTestDatabase(clone.url, 12);
  await seedRules(database, 2);
  await database.run(
    `insert into rule_versions (rule_id, version, platform, value, translated_value, slot_id)
     select rule_id, 1, 'x', 'outage', 'outage', slot_id from slot_holders`,
  );
  await database.run(`update rules set alerts = 'medium' where id = 'rule_1'`);
  await database.run(`update watches set from_at = $1`, [at(-8 * 24)]);
  await database.run(`update slot_services set from_at = $1`, [at(-8 * 24)]);
  await database.run('select ensure_partitions(current_date - 12, current_date + 1)');
  await insertMatches(-8 * 24, 0);
  return async () => {
    await database[Symbol.asyncDispose]();
    await clone[Symbol.asyncDispose]();
  };
});

const at = (hours: number) => new Date(start + hours * hourMs);

/** A match every six minutes of the period, of these items. */
async function insertMatches(fromHours: number, toHours: number): Promise<void> {
  await database.run(
    `insert into matches (position, account_id, rule_id, rule_version, platform, event_key, event_day, item_at, created_at)
     select last_position + row_number() over (), 'acc_1', 'rule_1', 1, 'x', 'key ' || item_at,
       (item_at at time zone 'UTC')::date, item_at, item_at
     from match_log, generate_series($1::timestamptz, $2::timestamptz - interval '1 second', interval '6 minutes') as item_at`,
    [at(fromHours), at(toHours)],
  );
  await database.run('update match_log set last_position = (select max(position) from matches)');
}

/** The source received in these periods; the gap before each of them has this repair. */
async function receive(...periods: ReadonlyArray<readonly [from: number, to: number, repair?: string]>) {
  await database.run('delete from coverage');
  for (const [nth, [from, to, repair]] of periods.entries())
    await database.run(
      `insert into coverage (source_id, from_at, proven_until, received_until, ended_because, gap_from, gap_because, repair, repair_via)
       values ('x:main', $1, $2, $2, 'dropped', $3, 'dropped', $4, $5)`,
      [
        at(from),
        at(to),
        nth === 0 ? null : at(periods[nth - 1]?.[1] ?? 0),
        repair ?? null,
        repair ? 'recovery' : null,
      ],
    );
}

/** Stores posts of these times as the match workers do. */
async function deliver(texts: ReadonlyArray<readonly [hours: number, text: string]>): Promise<void> {
  const events = texts.map(([hours, text]) => {
    const { payload, ...event } = xEvent(++delivered);
    const published_at = at(hours).toISOString();
    return { ...event, day: published_at.slice(0, 10), payload: { ...payload, text, published_at } };
  });
  const telemetry = silentTelemetry();
  const installation = (await readInstallation(database)).id;
  await storeBatch(
    { installation, bells, telemetry, store: createMatchStore(database) },
    events.map((event) => ({
      sequence: delivered,
      event,
      body: '',
      loggedAt: new Date(),
      deliveries: 1,
      message: { open: 1 },
      ack: () => undefined,
      redeliver: () => undefined,
    })),
  );
}

const burst = (fromHours: number, count: number) =>
  Array.from(
    { length: count },
    (_, nth) => [fromHours + nth / count, `Outage at Acme number${nth}, login fails`] as const,
  );

function createNode(changed: Partial<AlertStore> = {}, on: Database = database) {
  return createAlertStep({
    store: { ...createAlertStore(on), ...changed },
    coverage: createCoverageStore(on),
    prices: defaultPrices(),
    bells,
    nowMs: Date.now,
  });
}

/** Switched on at 0. */
async function begin(): Promise<void> {
  await createAlertStore(database).begin();
  await database.run('update alert_states set judged_through = $1', [at(0)]);
}

const signal = new AbortController().signal;

/** Everything up to this time is matched, and judged. */
async function passTo(hours: number, step = createNode()): Promise<void> {
  await database.run('update match_progress set matched_through = $1', [
    new Date(at(hours).getTime() + minuteMs),
  ]);
  await step(signal);
}

async function noticesOf(accountId = 'acc_1'): Promise<Notice[]> {
  const reader = createNoticeReader(database);
  const placed = await reader.read({ accountId, open: false, order: 'oldest', from: null, limit: 100 });
  return placed.map(({ notice }) => notice);
}

const shown = async () =>
  (await noticesOf()).map(({ type, resolved_at }) => `${type}${resolved_at === null ? ' (open)' : ''}`);

/** What is counted, against what is stored. */
async function miscounted(): Promise<unknown[]> {
  return await database.many(
    `select began, counts.matches, stored.matches as stored from (
       select began, matches from rule_counts where matches > 0
     ) as counts full join (
       select date_bin('15 minutes', item_at, '2000-01-01Z') as began, count(*) as matches from matches
       where rule_id = 'rule_1' and item_at >= (select since from alert_states) group by 1
     ) as stored using (began) where counts.matches is distinct from stored.matches`,
  );
}

describe('the counts', () => {
  test('are exact although the node dies between the counts and the position', async () => {
    await receive([-10 * 24, 9]);
    await begin();
    const dying = dyingAt(database, 'set counted_position', 'rule_1');
    await expect(passTo(0.25, createNode({}, dying))).rejects.toThrow('the node is gone');
    await passTo(0.5);
    await insertMatches(0, 1);
    await passTo(1);
    expect(await miscounted()).toEqual([]);
  });

  test('control: without the transaction, the same crash counts twice', async () => {
    await receive([-10 * 24, 9]);
    await begin();
    const committing: Database = { ...database, transaction: (work) => work(database) };
    const dying = dyingAt(committing, 'set counted_position', 'rule_1');
    await expect(passTo(0.25, createNode({}, dying))).rejects.toThrow('the node is gone');
    await passTo(0.5);
    expect(await miscounted()).not.toEqual([]);
  });

  test('are by the time of the item, and never in the future', async () => {
    await deliver([
      [-5, 'late'],
      [100, 'from the future'],
    ]);
    const rows = await database.many<{ late: number; ahead: boolean }>(
      `select extract(epoch from $1 - item_at)::float8 as late, item_at > created_at as ahead from matches
       where event_key like '19%' order by item_at`,
      [at(-5)],
    );
    expect(rows).toMatchObject([{ late: 0, ahead: false }, { ahead: false }]);
  });
});

test('a burst raises one notice with its words, which is resolved when the burst is over', async () => {
  await receive([-10 * 24, 9]);
  await begin();
  await insertMatches(0, 4);
  await deliver(burst(1, 60));
  await passTo(1);
  expect(await shown()).toEqual([]);
  for (const hours of [1.5, 2, 2, 2.25]) await passTo(hours);
  const [notice, ...others] = await noticesOf();
  expect(others).toEqual([]);
  expect(notice).toMatchObject({
    type: 'alert.spike',
    severity: 'warning',
    subject: { kind: 'rule', id: 'rule_1', name: 'rule' },
    data: { platform: 'x', window: expect.stringMatching(/^(15m|1h)$/), top_domains: [] },
    resolved_at: null,
  });
  const { data } = notice ?? {};
  expect(data?.['top_words']).toEqual(expect.arrayContaining(['acme', 'login', 'fails']));
  expect(data?.['top_words']).not.toContain('outage');
  expect(data?.['sample_match_ids']).toHaveLength(5);
  expect(Number(data?.['got'])).toBeGreaterThan(3 * Number(data?.['expected']));
  expect(Number(data?.['p'])).toBeLessThan(1e-3);
  const perHour = { '15m': 4, '1h': 1 }[String(data?.['window'])] ?? 0;
  expect(data?.['usd_per_hour']).toBeCloseTo(Number(data?.['got']) * perHour * 0.005, 1);
  expect(notice?.what_to_do).toMatch(/^The rule got \d+ matches from X in .*; about [\d.]+ are usual/);
  await passTo(3.5);
  expect(await shown()).toEqual(['alert.spike', 'alert.recovered']);
  expect((await noticesOf())[1]?.data).toMatchObject({
    platform: 'x',
    alert: 'spike',
    matches: expect.any(Number),
  });
});

describe('silence', () => {
  test('of a rule whose source receives raises a drop, which is resolved when items arrive', async () => {
    await receive([-10 * 24, 9]);
    await begin();
    await passTo(5);
    expect(await shown()).toEqual([]);
    await passTo(6.5);
    expect(await shown()).toEqual(['alert.drop (open)']);
    expect((await noticesOf())[0]?.data).toMatchObject({ window: '6h', top_words: [] });
    expect(Number((await noticesOf())[0]?.data['got'])).toBeLessThan(7);
    await insertMatches(6.5, 8);
    await passTo(8);
    expect(await shown()).toEqual(['alert.drop', 'alert.recovered']);
  });

  test('in a gap of the coverage is no drop', async () => {
    await receive([-10 * 24, 1], [7.5, 9]);
    await begin();
    await insertMatches(0, 1);
    await passTo(8);
    expect(await shown()).toEqual([]);
  });
});

describe('a repair', () => {
  const missed = (times: (hours: number) => number) =>
    burst(1, 60).map(([hours], nth) => [times(1 + (hours - 1) * 6), `post ${nth}`] as const);

  test('that stores six hours of items at once is no spike', async () => {
    await receive([-10 * 24, 1], [7, 9]);
    await begin();
    await insertMatches(0, 1);
    await insertMatches(7, 9);
    await passTo(7.5);
    await deliver(missed((hours) => hours));
    await passTo(7.75);
    await receive([-10 * 24, 1], [7, 9, 'repaired']);
    await passTo(8);
    await passTo(8.5);
    expect(await shown()).toEqual([]);
    // The gap is part of the history now.
    const covered = 'select min(covered_seconds) from rule_counts where began >= $1 and began < $2';
    expect(await database.one(covered, [at(1), at(8)])).toEqual({ min: 900 });
  });

  test('control: counted when they are stored, the same items are a spike', async () => {
    await receive([-10 * 24, 1], [7, 9]);
    await begin();
    await insertMatches(0, 1);
    await insertMatches(7, 9);
    await passTo(7.5);
    await deliver(missed(() => 7.6));
    await passTo(7.75);
    expect(await shown()).toEqual(['alert.spike (open)']);
  });
});

describe('two nodes that judge the same', () => {
  /** Both nodes have read the rules before one of them continues. */
  function createBarrier() {
    const bothRead = Promise.withResolvers<void>();
    let waiting = 0;
    return async () => {
      const rules = await createAlertStore(database).rules();
      if (++waiting === 2) bothRead.resolve();
      await bothRead.promise;
      return rules;
    };
  }

  async function spikeAndRecover(on: Database): Promise<string[]> {
    await receive([-10 * 24, 9]);
    await begin();
    await insertMatches(0, 4);
    await deliver(burst(1, 60));
    for (const hours of [2, 4]) {
      const rules = createBarrier();
      await database.run('update match_progress set matched_through = $1', [at(hours + 0.1)]);
      await Promise.all([createNode({ rules }, on)(signal), createNode({ rules }, on)(signal)]);
    }
    return await shown();
  }

  test('report it once', async () => {
    expect(await spikeAndRecover(database)).toEqual(['alert.spike', 'alert.recovered']);
  });

  test('control: without the comparison with what was judged, both report the recovery', async () => {
    const unchecked = (sql: Sql): Sql => ({
      ...sql,
      run: (text, values) =>
        sql.run(text.replace('and judged_through = $3', 'and $3::timestamptz is not null'), values),
    });
    const on: Database = {
      ...database,
      transaction: (work) => database.transaction((sql) => work(unchecked(sql))),
    };
    expect((await spikeAndRecover(on)).filter((one) => one === 'alert.recovered')).toHaveLength(2);
  });
});

describe('an open alert', () => {
  beforeEach(async () => {
    await receive([-10 * 24, 9]);
    await begin();
    await insertMatches(0, 4);
    await deliver(burst(1, 60));
    await passTo(2);
    expect(await shown()).toEqual(['alert.spike (open)']);
  });

  const rows = async () =>
    await database.one<{ states: number; counts: number }>(
      `select (select count(*) from alert_states) as states, (select count(*) from rule_counts) as counts`,
    );

  test.each([
    ['is switched off', `update rules set alerts = null where id = 'rule_1'`],
    ['is deleted', `update rules set state = 'deleted' where id = 'rule_1'`],
    ['leaves the platform', `update rule_versions set platform = 'firehose' where rule_id = 'rule_1'`],
  ])('is resolved and forgotten when its rule %s', async (_, change) => {
    await database.run(change);
    await passTo(2);
    expect(await shown()).toEqual(['alert.spike']);
    expect(await rows()).toMatchObject({ states: 0, counts: 0 });
  });

  test('is resolved when its rule is paused, which keeps its history', async () => {
    const before = await rows();
    await database.run(`update rules set state = 'paused' where id = 'rule_1'`);
    await passTo(2);
    expect(await shown()).toEqual(['alert.spike']);
    expect(await rows()).toEqual(before);
  });

  test('begins again when the rule has another query', async () => {
    await database.run(`update rule_versions set translated_value = 'blackout' where rule_id = 'rule_1'`);
    await passTo(2);
    expect(await shown()).toEqual(['alert.spike']);
    expect((await rows())?.counts).toBe(0);
  });

  test('goes with its rule and its account', async () => {
    await database.run(`delete from rules where id = 'rule_1'`);
    expect(await rows()).toMatchObject({ states: 0, counts: 0 });
  });

  test('leaves rules without alerts alone', async () => {
    const others = `select count(*) from alert_states where rule_id <> 'rule_1'`;
    expect(await database.one(others)).toEqual({ count: 0 });
  });
});

test('a rule without a history begins with the counts that its account requested', async () => {
  await database.run(
    `insert into platform_counts (account_id, platform, value_hash, counts)
     select unnest(array['acc_1', 'acc_2']), 'x', value_hash, $1 from slots where id = 'slot_1'`,
    [JSON.stringify({ fromMs: at(-200).getTime(), counts: Array<number>(168).fill(10) })],
  );
  await database.run(`update platform_counts set counts = '{}' where account_id = 'acc_2'`);
  await database.run('delete from matches');
  await database.run('update watches set from_at = $1', [at(-1)]);
  await receive([-10 * 24, 9]);
  await begin();
  await deliver(burst(1, 150));
  await passTo(2);
  expect(await shown()).toEqual(['alert.spike (open)']);
});

test('a rule with a history is judged at once, with the coverage of the past weeks', async () => {
  await receive([-10 * 24, 9]);
  await begin();
  await insertMatches(0, 1);
  await passTo(1);
  const history = await database.one<{ hours: number; since: Date }>(
    `select sum(covered_seconds)::float8 / 3600 as hours, min(began) as since from rule_counts`,
  );
  expect(history?.hours).toBeGreaterThan(8 * 24);
  expect(history?.since.getTime()).toBeGreaterThanOrEqual(at(-8 * 24).getTime());
});
