import { migratedTemplate } from '@earshot/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Database } from '../src/engines/database.ts';
import { createMatchStore } from '../src/matching/match-store.sql.ts';
import { purgeSome } from '../src/matching/purge-deleted-rules.ts';
import { removeExpiredDays } from '../src/matching/retention.ts';
import type { MatchQuery } from '../src/readers/match-days.sql.ts';
import { createMatchReader } from '../src/readers/match-reader.sql.ts';
import { createDeliveryStore } from '../src/webhooks/delivery-store.sql.ts';
import { countReads, daysAgo, fillDay, needleMatches, rareEvents, type Size } from './size-world.ts';
import { xEvent, xMatch } from './stream-events.ts';
import { openTestDatabase, seedRules } from './support.ts';

/* By counted rows, which do not depend on the machine. `size.trial.ts` has times, at full size. */

const yesterday = daysAgo(1);
const size: Size = { matches: 50_000, rules: 100, quietAccounts: 100, day: yesterday };
const partition = `matches_${yesterday.replaceAll('-', '')}`;
/** Index entries that a page reads at most: its rows, once to find them and once for their posts, and one extra per index. */
const pageRowsMax = 120;

const template = migratedTemplate();
let stack: AsyncDisposableStack;
let database: Database;
beforeAll(async () => {
  stack = new AsyncDisposableStack();
  const clone = stack.use(await template.clone());
  database = stack.use(openTestDatabase(clone.url, 1));
  await seedRules(database, size.rules);
  await fillDay(database, size);
});
afterAll(() => stack?.disposeAsync());

const query = (filter: Partial<MatchQuery>): MatchQuery => ({
  accountId: 'acc_1',
  ruleIds: null,
  platform: null,
  since: null,
  until: null,
  order: 'newest',
  from: null,
  limit: 50,
  ...filter,
});
const positions = async (filter: Partial<MatchQuery>) =>
  (await createMatchReader(database).read(query(filter))).matches.map(({ position }) => position);
/** The expected page, computed without indexes. */
const expected = async (filter: Partial<MatchQuery>): Promise<number[]> => {
  const { accountId, ruleIds, platform, since, until, order, from, limit } = query(filter);
  const rows = await database.many<{ position: number }>(
    `select position from matches where account_id = $1 and ($2::text[] is null or rule_id = any($2))
       and ($3::text is null or platform = $3) and ($4::timestamptz is null or created_at >= $4)
       and ($5::timestamptz is null or created_at < $5)
       and ($6::bigint is null or position ${order === 'oldest' ? '>' : '<'} $6)
     order by position ${order === 'oldest' ? 'asc' : 'desc'} limit $7`,
    [accountId, ruleIds, platform, since, until, from, limit],
  );
  return rows.map(({ position }) => position);
};
const time = (of: number) => new Date(Date.parse(yesterday) + of * 86_400_000);

describe('a page of a large day reads hardly more rows than it has', () => {
  test.each<[string, Partial<MatchQuery>, number]>([
    ['by account', {}, 50],
    ['by rule', { ruleIds: ['rule_7'] }, 50],
    ['of a rule with few matches', { ruleIds: ['rule_100'] }, needleMatches],
    ['of two rules', { ruleIds: ['rule_7', 'rule_100'] }, 50],
    ['of two rules with few matches', { ruleIds: ['rule_100', 'rule_none'] }, needleMatches],
    ['of two rules behind a cursor', { ruleIds: ['rule_7', 'rule_8'], from: 25_000 }, 50],
    ['of a rare platform', { platform: 'firehose' }, 50],
    ['of a rare platform and a rule', { platform: 'firehose', ruleIds: ['rule_3'] }, rareEvents],
    ['of a quiet account', { accountId: 'quiet_5' }, 1],
    ['until a time', { until: time(0.3) }, 50],
    ['since a time, oldest first', { since: time(0.7), order: 'oldest' }, 50],
    ['since a time, of a rule', { since: time(0.7), order: 'oldest', ruleIds: ['rule_7'] }, 50],
    ['behind a cursor', { from: 5_000 }, 50],
    ['behind a cursor, oldest first', { from: 5_000, order: 'oldest' }, 50],
  ])('%s', async (_, filter, count) => {
    const want = await expected(filter);
    expect(want).toHaveLength(count);
    for (const order of ['newest', 'oldest'] as const)
      expect(await positions({ ...filter, order })).toEqual(await expected({ ...filter, order }));
    const { rows } = await countReads(database, () => positions(filter));
    const otherRules = (filter.ruleIds?.length ?? 1) - 1;
    expect(rows).toBeLessThanOrEqual(pageRowsMax + 50 * otherRules);
  });

  test.each<[string, Partial<MatchQuery>]>([
    ['a platform without matches of the account', { accountId: 'quiet_5', platform: 'firehose' }],
    ['a rule without matches', { ruleIds: ['rule_none'] }],
    ['a time in the future', { since: new Date(Date.now() + 86_400_000) }],
    ['a time before all', { until: time(-1) }],
    ['the end of the log', { from: 1_000_000, order: 'oldest' }],
  ])('a page reads nothing for %s', async (_, filter) => {
    const { scans } = await countReads(database, async () => expect(await positions(filter)).toEqual([]));
    expect(scans).toBe(0);
  });
});

test('the range includes its start and excludes its end: adjacent ranges together miss and repeat nothing', async () => {
  const all = await positions({ order: 'oldest', limit: 1_000 });
  // As exact as a time of the API.
  const boundary = await database.one<{ at: Date }>(
    `update matches set created_at = date_trunc('milliseconds', created_at) where position = $1
     returning created_at as at`,
    [all[500]],
  );
  const [before, after] = [{ until: boundary?.at ?? null }, { since: boundary?.at ?? null }];
  const [first, rest] = await Promise.all(
    [before, after].map((filter) => positions({ ...filter, order: 'oldest', limit: 1_000 })),
  );
  expect(rest?.[0]).toBeGreaterThan(first?.at(-1) ?? Number.NaN);
  expect([...(first ?? []), ...(rest ?? [])].slice(0, 1_000)).toEqual(all);
});

test('a page of one account does not read through the newer matches of the only other account', async () => {
  await using clone = await template.clone();
  await using own = openTestDatabase(clone.url, 1);
  await seedRules(own, 2);
  await own.run(`insert into accounts (id, name, plan) values ('acc_2', 'two', 'paid')`);
  await own.run(`update rules set account_id = 'acc_2' where id = 'rule_2'`);
  await write(['rule_1', 'acc_1'], 1_000, own);
  await write(['rule_2', 'acc_2'], 1_000, own);
  await own.run('vacuum analyze');
  const { rows } = await countReads(own, async () =>
    expect((await createMatchReader(own).read(query({}))).matches).toHaveLength(50),
  );
  expect(rows).toBeLessThanOrEqual(pageRowsMax);
});

test('a check for webhooks with something to send reads no matches, and leases those webhooks', async () => {
  const store = createDeliveryStore(database);
  const leaseDue = () => store.leaseDue({ max: 10, troubled: false });
  const { scans } = await countReads(database, async () => expect(await leaseDue()).toEqual([]));
  expect(scans).toBe(0);
  await write(['rule_quiet_7', 'quiet_7']);
  expect((await leaseDue()).map(({ webhookId }) => webhookId)).toEqual(['whk_7']);
});

test('a purge without deleted rules reads no match; with one, it reads those of the rule', async () => {
  const idle = await countReads(database, () => purgeSome(database));
  expect(idle.scans).toBe(0);
  await database.run(`update rules set state = 'deleted', deleted_at = now() where id = 'rule_3'`);
  const { rows, partitions } = await countReads(database, async () => {
    while ((await purgeSome(database)) > 0);
  });
  expect(await database.many(`select 1 from matches where rule_id = 'rule_3'`)).toEqual([]);
  expect(partitions).toEqual([partition]);
  // Found by index, on each platform once more to find that none are left.
  expect(rows).toBeLessThan(1_100);
});

test('unlisted rules are queried once per page, however many partitions it reads', async () => {
  for (const day of [2, 3, 4, 5, 6]) await write(['rule_1', 'acc_1', daysAgo(day)]);
  const scansOfRules = async () => {
    await database.run('select pg_stat_force_next_flush()');
    const row = await database.one<{ scans: number }>(
      `select seq_scan + idx_scan as scans from pg_stat_user_tables where relname = 'rules'`,
    );
    return row?.scans ?? 0;
  };
  const before = await scansOfRules();
  expect(await positions({ ruleIds: ['rule_1'], limit: 2_000 })).toHaveLength(505);
  expect((await scansOfRules()) - before).toBe(1);
});

test('a page scans only the partitions that have matches for it', async () => {
  const today = `matches_${daysAgo(0).replaceAll('-', '')}`;
  await write(['rule_8', 'acc_1', daysAgo(0)], 60);
  const newest = await countReads(database, () => positions({ ruleIds: ['rule_8'] }));
  expect(newest.partitions).toEqual([today]);
  const both = await countReads(database, () => positions({ ruleIds: ['rule_8'], limit: 100 }));
  expect(both.partitions).toEqual([partition, today]);
  const [oldest = 0] = await positions({ ruleIds: ['rule_8'], limit: 60 });
  const behind = await countReads(database, () =>
    positions({ from: oldest - 40, order: 'oldest', ruleIds: ['rule_8'] }),
  );
  expect(behind.partitions).toEqual([today]);
});

test('a page continues into older days if deleted rules have left fewer matches than were counted', async () => {
  await write(['rule_9', 'acc_1', daysAgo(0)], 60);
  await database.run(`update rules set state = 'deleted', deleted_at = now() where id = 'rule_9'`);
  const page = await createMatchReader(database).read(query({ limit: 100 }));
  expect(page.matches).toHaveLength(100);
  expect(page.matches.map(({ ruleId }) => ruleId)).not.toContain('rule_9');
});

test('retention reads no match of the day that it removes, and informs the followers of each rule', async () => {
  const last = await database.many(
    `select rule_id, platform, max(position) as last_position from matches join rules on rules.id = rule_id
     where event_day < $1 and state <> 'deleted' group by rule_id, platform order by rule_id, platform`,
    [daysAgo(0)],
  );
  // The counters of a table are deleted with it, so the first attempt crashes before that.
  const mortal: Database = {
    ...database,
    run: async (text, values) => {
      if (text === `drop table ${partition}`) throw new Error('the process died');
      return await database.run(text, values);
    },
  };
  const remove = (owned: Database) =>
    removeExpiredDays({ database: owned, retentionDays: 0, telemetry: { dayRemoved: () => undefined } });
  const { partitions } = await countReads(database, () =>
    expect(remove(mortal)).rejects.toThrow('the process died'),
  );
  expect(partitions).toEqual([]);
  await remove(database);
  const removed = await database.many(
    `select rule_id, platform, last_position from removed_matches order by rule_id, platform`,
  );
  expect(removed).toEqual(last);
  expect(await database.one(`select to_regclass('${partition}') as there`)).toEqual({ there: null });
  expect(await database.many(`select 1 from day_heads where event_day = '${yesterday}'`)).toEqual([]);
});

let events = 0;
/** Matches of one rule, each of another event. */
async function write(
  [ruleId, accountId, day = daysAgo(0)]: [string, string, string?],
  count = 1,
  into = database,
): Promise<void> {
  const posts = Array.from({ length: count }, () => xEvent(events++, { day }));
  const matches = posts.map((post) => xMatch(post, ruleId, accountId));
  await createMatchStore(into).write(posts, matches, [], []);
}
