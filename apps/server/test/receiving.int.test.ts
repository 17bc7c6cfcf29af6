import { migratedTemplate } from '@earshot/testkit';
import { expect, test } from 'vitest';
import type { Database } from '../src/engines/database.ts';
import { createCoverageIntervals } from '../src/ingest/coverage-intervals.sql.ts';
import { readSources } from '../src/ingest/list-sources.ts';
import { createRuleStore } from '../src/rules/rule-store.sql.ts';
import { openTestDatabase, seedRules } from './support.ts';

/* Rules and sources show the same: whether a source receives, and since when. */

const template = migratedTemplate();

async function openSource() {
  const stack = new AsyncDisposableStack();
  const clone = stack.use(await template.clone());
  const database = stack.use(openTestDatabase(clone.url));
  await seedRules(database, 1);
  await database.run(
    `insert into rule_versions (rule_id, version, platform, value, translated_value, platform_rule_id, slot_id)
     select rule_id, 1, 'x', 'v', 'v', 'p', slot_id from slot_holders`,
  );
  await database.run(`update slot_holders set served_since = now() - interval '1 hour'`);
  await database.run(`update sources set state_since = now() - interval '1 hour'`);
  return { database, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

/** What the source and its rule show. */
async function shown(database: Database) {
  const [source] = await readSources(database);
  const rule = await createRuleStore(database).get('acc_1', 'rule_1');
  const { listening, status } = rule?.platforms.x ?? {};
  const { state, reason, since } = listening ?? {};
  return { source: source?.state, rule: reason ?? state, status, since, received: source?.received_until };
}

test('a source whose process crashed is stopped, and its rules are down for that reason since then', async () => {
  await using world = await openSource();
  const { database } = world;
  await createCoverageIntervals(database).openCoverage('x:main');
  await database.run(`update sources set state = 'live'`);
  expect(await shown(database)).toMatchObject({ source: 'live', rule: 'live' });
  await database.run(`update coverage set received_until = '2026-01-02T03:04:05Z'`);
  await database.run(`update sources set live_until = '2026-01-02T03:04:15Z'`);
  expect(await shown(database)).toMatchObject({
    source: 'stopped',
    rule: 'stopped',
    since: '2026-01-02T03:04:05.000Z',
    received: new Date('2026-01-02T03:04:05Z'),
  });
});

test('an outage begins at the same time for rules, sources and coverage', async () => {
  await using world = await openSource();
  const { database } = world;
  const intervals = createCoverageIntervals(database);
  const { id } = await intervals.openCoverage('x:main');
  await database.run(
    `update coverage set from_at = from_at - interval '1 hour', received_until = now() - interval '15 seconds'`,
  );
  await intervals.closeCoverage('x:main', id, { because: 'dropped', uncoveredMs: 0 });
  const { ends } = (await database.one<{ ends: Date }>('select proven_until as ends from coverage')) ?? {};
  expect(await shown(database)).toMatchObject({ since: ends?.toISOString(), received: ends });
});

test('a connection that broke is down from its last byte on, whichever errors follow', async () => {
  await using world = await openSource();
  const { database } = world;
  const intervals = createCoverageIntervals(database);
  const { id } = await intervals.openCoverage('x:main');
  await database.run(`update coverage set from_at = from_at - interval '1 hour'`);
  await intervals.closeCoverage('x:main', id, { because: 'stalled', uncoveredMs: 20_000 });
  await database.run(`update sources set state = 'reconnecting', state_since = now()`);
  const before = await shown(database);
  expect(before).toMatchObject({ source: 'reconnecting', rule: 'reconnecting' });
  const { ends } = (await database.one<{ ends: Date }>('select proven_until as ends from coverage')) ?? {};
  expect(before.since).toBe(ends?.toISOString());
  await database.run(`update sources set state = 'failing', state_since = now()`);
  expect(await shown(database)).toEqual({ ...before, source: 'failing', rule: 'failing' });
});

test('a rule stays registered while its source is disconnected', async () => {
  await using world = await openSource();
  await world.database.run(`update sources set state = 'failing', live_until = now() - interval '1 hour'`);
  expect(await shown(world.database)).toMatchObject({ rule: 'failing', status: 'active' });
});

test('an open connection is live before and whatever the worker writes about it', async () => {
  await using world = await openSource();
  const { database } = world;
  await database.run(`update sources set state = 'reconnecting'`);
  await createCoverageIntervals(database).openCoverage('x:main');
  expect(await shown(database)).toMatchObject({ source: 'live', rule: 'live' });
});

test('a source stays live while it reconnects after an end that the platform plans', async () => {
  await using world = await openSource();
  const { database } = world;
  const intervals = createCoverageIntervals(database);
  const { id } = await intervals.openCoverage('x:main');
  await database.run(`update sources set state = 'live'`);
  await intervals.closeCoverage('x:main', id, { because: 'finished', uncoveredMs: 0 });
  expect(await shown(database)).toMatchObject({ source: 'live', rule: 'live' });
});

test('the time of the last receipt is the last byte, not the last proof', async () => {
  await using world = await openSource();
  const { database } = world;
  await createCoverageIntervals(database).openCoverage('x:main');
  await database.run(`update coverage set received_until = '2026-01-02T03:04:05Z'`);
  expect((await shown(database)).received).toEqual(new Date('2026-01-02T03:04:05Z'));
});
