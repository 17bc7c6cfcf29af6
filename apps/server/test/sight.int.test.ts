import type { Template } from '@earshot/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { showFreshness } from '../src/coverage/freshness-metrics.ts';
import { budgetExhausted, createRepairStore } from '../src/coverage/repair-store.sql.ts';
import type { Database } from '../src/engines/database.ts';
import { openDatabase } from '../src/engines/database.ts';
import { createLeaseStore } from '../src/engines/leases.ts';
import { createCoverageIntervals } from '../src/ingest/coverage-intervals.sql.ts';
import { createMetrics, type Metrics } from '../src/observability/metrics.ts';
import { createMatchReader } from '../src/readers/match-reader.sql.ts';
import { showBacklog } from '../src/webhooks/backlog-metrics.ts';
import { createMigratedTemplate, openTestDatabase, seedRules } from './support.ts';
import { createWebhookWorld } from './webhook-world.ts';

let template: Template;
beforeAll(async () => {
  template = await createMigratedTemplate();
});
afterAll(() => template?.[Symbol.asyncDispose]());

async function open() {
  const stack = new AsyncDisposableStack();
  const clone = stack.use(await template.clone());
  const database = stack.use(openTestDatabase(clone.url));
  await seedRules(database, 2);
  return {
    database,
    url: clone.url,
    metrics: createMetrics(),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

/** The samples of a metric, each as `labels value`; the values of times as their age in minutes. */
async function samplesOf(metrics: Metrics, name: string, { asAge = false } = {}): Promise<string[]> {
  const metric = await metrics.registry.getSingleMetric(`earshot_${name}`)?.get();
  return (metric?.values ?? []).map(({ labels, value }) => {
    const shown = asAge ? Math.round((Date.now() / 1000 - value) / 60) : value;
    return [...Object.values(labels), shown].join(' ');
  });
}

const minutesAgo = (minutes: number) => `now() - interval '${minutes} minutes'`;

describe('the time of the last receipt of a source', () => {
  const received = async (database: Database, metrics: Metrics) => {
    await showFreshness({ database, metrics });
    return await samplesOf(metrics, 'source_last_received_timestamp_seconds', { asAge: true });
  };

  test('is the last byte of the last interval, also if its process crashed', async () => {
    await using world = await open();
    const { database, metrics } = world;
    await database.run(`update slots set registered_at = ${minutesAgo(90)}`);
    await database.run(
      `insert into coverage (source_id, from_at, proven_until, received_until) values
         ('x:main', ${minutesAgo(60)}, ${minutesAgo(50)}, ${minutesAgo(50)}),
         ('x:main', ${minutesAgo(40)}, ${minutesAgo(10)}, ${minutesAgo(11)})`,
    );
    expect(await received(database, metrics)).toEqual(['x:main 11']);
  });

  test('is the first registration for a source that never received, or not since it has rules again', async () => {
    await using world = await open();
    const { database, metrics } = world;
    await database.run(`update slots set registered_at = ${minutesAgo(3)}`);
    await database.run(
      `update slots set registered_at = ${minutesAgo(1)} where id = (select max(id) from slots)`,
    );
    expect(await received(database, metrics)).toEqual(['x:main 3']);
    await database.run(
      `insert into coverage (source_id, from_at, proven_until) values ('x:main', ${minutesAgo(900)}, ${minutesAgo(800)})`,
    );
    expect(await received(database, metrics)).toEqual(['x:main 3']);
  });

  test('is not reported for a source without rules', async () => {
    await using world = await open();
    const { database, metrics } = world;
    expect(await received(database, metrics)).toHaveLength(1);
    await database.run(`update slots set state = 'releasing'`);
    expect(await received(database, metrics)).toEqual([]);
  });
});

test('the time up to which all events are matched is unknown until it is read, and then the one in the database', async () => {
  await using world = await open();
  const { database, metrics } = world;
  const matched = () => samplesOf(metrics, 'matched_through_timestamp_seconds', { asAge: true });
  expect(await matched()).toEqual([]);
  await database.run(`update match_progress set matched_through = ${minutesAgo(7)}`);
  await showFreshness(world);
  expect(await matched()).toEqual(['7']);
});

test('gaps that wait for the search budget of the next day are counted, until they are repaired or given up', async () => {
  await using world = await open();
  const { database, metrics } = world;
  const waiting = async () => {
    await showFreshness(world);
    return await samplesOf(metrics, 'gaps_waiting_for_budget');
  };
  const intervals = createCoverageIntervals(database);
  const { id } = await intervals.openCoverage('x:main');
  const leases = createLeaseStore(database);
  const lease = await leases.acquire('repair:x:main', 'me', 60_000);
  if (!lease) throw new Error('there is no lease');
  const store = createRepairStore(database);
  const gap = { id, from: new Date(1), to: new Date(2), planned: false };
  await store.plan(lease, gap, [{ slotId: 'slot_1', state: 'waiting', because: null, fidelity: [] }]);
  expect(await waiting()).toEqual(['0']);
  await store.recordWaiting(lease, gap, budgetExhausted);
  expect(await waiting()).toEqual(['1']);
  await store.settle(lease, gap);
  expect(await waiting()).toEqual(['0']);
});

describe('the backlog of webhooks', () => {
  const url = 'http://127.0.0.1:9/';

  test('shows since when a match waits for a webhook that is due', async () => {
    await using world = await open();
    const { database, metrics } = world;
    const backlog = async () => {
      await showBacklog({ database, metrics, reader: createMatchReader(database) });
      return await samplesOf(metrics, 'webhooks_tried_through_timestamp_seconds', { asAge: true });
    };
    const webhooks = createWebhookWorld(database);
    expect(await backlog()).toEqual(['0']);
    const { id } = await webhooks.createWebhook(url);
    await database.run(`update webhooks set next_attempt_at = ${minutesAgo(60)}`);
    // Nothing to send: it may be quiet for any time.
    expect(await backlog()).toEqual(['0']);
    await webhooks.storeMatches(['one', 'two']);
    await database.run(`update matches set created_at = ${minutesAgo(20)}`);
    expect(await backlog()).toEqual(['20']);
    await database.run(`update webhooks set next_attempt_at = ${minutesAgo(5)}`);
    expect(await backlog()).toEqual(['5']);
    // Its account is suspended.
    await database.run('update accounts set suspended_at = now()');
    expect(await backlog()).toEqual(['0']);
    await database.run('update accounts set suspended_at = null');
    expect(await backlog()).toEqual(['5']);
    // It works, so it should have been tried: a next attempt far in the future would be a bug.
    await database.run(`update webhooks set next_attempt_at = now() + interval '1 hour'`);
    expect(await backlog()).toEqual(['20']);
    // Its endpoint fails, a sender works on it, a window has not ended, or its owner paused it.
    for (const change of [
      `troubled = true`,
      `troubled = false, lease_until = now() + interval '1 minute'`,
      `lease_until = '-infinity', format = 'slack', window_seconds = 60, message_at = now()`,
      `message_at = null, next_attempt_at = ${minutesAgo(5)}, state = 'paused'`,
    ]) {
      await database.run(`update webhooks set ${change} where id = $1`, [id]);
      expect(await backlog()).toEqual(['0']);
    }
  });

  test('is that of the match that has waited longest, and excludes webhooks for notices', async () => {
    await using world = await open();
    const { database, metrics } = world;
    const webhooks = createWebhookWorld(database);
    await webhooks.createMany(url, 3);
    await webhooks.storeMatches(['one', 'two']);
    await database.run(`update matches set created_at = ${minutesAgo(60)}`);
    const ids = await database.many<{ id: string }>('select id from webhooks order by id');
    for (const [index, minutes] of [5, 20, 40].entries())
      await database.run(`update webhooks set next_attempt_at = ${minutesAgo(minutes)} where id = $1`, [
        ids[index]?.id,
      ]);
    await database.run(`update webhooks set events = array['notices'] where id = $1`, [ids[2]?.id]);
    await showBacklog({ database, metrics, reader: createMatchReader(database) });
    const through = await samplesOf(metrics, 'webhooks_tried_through_timestamp_seconds', { asAge: true });
    expect(through).toEqual(['20']);
    // No webhook fails.
    const since = await samplesOf(metrics, 'webhooks_failing_since_timestamp_seconds', { asAge: true });
    expect(since).toEqual(['0']);
  });

  test('counts webhooks by state, and shows since when the first of them fails', async () => {
    await using world = await open();
    const { database, metrics } = world;
    await createWebhookWorld(database).createMany(url, 6);
    const ids = await database.many<{ id: string }>('select id from webhooks order by id');
    const set = (index: number, change: string) =>
      database.run(`update webhooks set ${change} where id = $1`, [ids[index]?.id]);
    await set(0, `state = 'paused', failing_since = ${minutesAgo(90)}`);
    await set(1, `state = 'disabled'`);
    await set(2, `failing_since = ${minutesAgo(30)}`);
    await set(3, `failing_since = ${minutesAgo(10)}`);
    await showBacklog({ database, metrics, reader: createMatchReader(database) });
    expect(await samplesOf(metrics, 'webhooks')).toEqual(['active 2', 'failing 2', 'paused 1', 'disabled 1']);
    const since = await samplesOf(metrics, 'webhooks_failing_since_timestamp_seconds', { asAge: true });
    expect(since).toEqual(['30']);
  });
});

test('the use of the pool, waits and statements of a database are measured', async () => {
  await using world = await open();
  const { metrics } = world;
  await using database = openDatabase({
    url: world.url,
    connectionsMax: 1,
    onIdleError: () => undefined,
    measure: { name: 'runtime', metrics },
  });
  const busy = Promise.withResolvers<void>();
  const done = Promise.withResolvers<void>();
  const first = database.transaction(async (sql) => {
    await sql.many('select pg_sleep(0.02)');
    busy.resolve();
    await done.promise;
  });
  await busy.promise;
  const second = database.transaction((sql) => sql.many('select 1'));
  expect(await samplesOf(metrics, 'database_pool')).toEqual([
    'runtime busy 1',
    'runtime idle 0',
    'runtime waiting 1',
  ]);
  done.resolve();
  await Promise.all([first, second]);
  expect(await samplesOf(metrics, 'database_pool')).toEqual([
    'runtime busy 0',
    'runtime idle 1',
    'runtime waiting 0',
  ]);
  const exported = await metrics.registry.metrics();
  expect(exported).toContain('earshot_database_statement_seconds_count 2');
  expect(exported).toContain('earshot_database_connection_wait_seconds_count 2');
  expect(exported).toContain('earshot_database_statement_seconds_bucket{le="0.01"} 1');
});
