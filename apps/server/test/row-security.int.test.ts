import type { Template, TestDatabase } from '@earshot/testkit';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Database, openDatabase, type Sql } from '../src/engines/database.ts';
import { raiseNotices } from '../src/notices/notice-log.sql.ts';
import { createMigratedTemplate, openTestDatabase, seedRules } from './support.ts';

let template: Template;
let clone: TestDatabase;
let database: Database;
let stack: AsyncDisposableStack;

beforeAll(async () => {
  template = await createMigratedTemplate();
});
afterAll(() => template[Symbol.asyncDispose]());

beforeEach(async () => {
  stack = new AsyncDisposableStack();
  clone = stack.use(await template.clone());
  database = stack.use(openTestDatabase(clone.url, 1));
  await seedRules(database, 3);
  await database.run(`insert into accounts (id, name, plan) values ('acc_2', 'two', 'paid')`);
  await database.run(
    `insert into rule_versions (rule_id, version, platform, value, translated_value, slot_id)
     select id, 1, 'x', 'v', 'v', 'slot_1' from rules`,
  );
  await database.run(
    `insert into matches (position, account_id, rule_id, rule_version, platform, event_key, event_day)
     values (1, 'acc_1', 'rule_1', 1, 'x', 'k', (now() at time zone 'UTC')::date)`,
  );
  await database.run(
    `insert into heads (account_id, rule_id, platform, last_position) values ('acc_1', 'rule_1', 'x', 1)`,
  );
  await database.run(
    `insert into day_heads (account_id, rule_id, platform, event_day, first_position, last_position, matches)
     values ('acc_1', 'rule_1', 'x', now(), 1, 1, 1)`,
  );
  await database.run(
    `insert into usage (account_id, rule_id, platform, day, matches, last_match_at)
     values ('acc_1', 'rule_1', 'x', now(), 1, now())`,
  );
  await database.run(
    `insert into api_keys (id, account_id, hash, display, scopes) values ('key_1', 'acc_1', 'h', 'd', '{}')`,
  );
  await database.run(
    `insert into removed_matches (account_id, rule_id, platform, last_position) values ('acc_1', 'rule_1', 'x', 1)`,
  );
  await database.run(
    `insert into removals (position, match_position, account_id, rule_id, platform, reason, created_at)
     values (2, 1, 'acc_1', 'rule_1', 'x', 'deleted', now())`,
  );
  await raiseNotices(database, ['acc_1'], {
    type: 'rule.expired',
    subject: { kind: 'rule', id: 'rule_1', name: 'n' },
    data: { expires_at: null },
  });
  await database.run(
    `insert into webhooks (id, account_id, name, url, state, position, batch_max, next_attempt_at, secret)
     values ('whk_1', 'acc_1', 'n', 'u', 'active', 0, 1, now(), 's')`,
  );
  await database.run(
    `insert into webhook_batches (webhook_id, message_id, first_position, last_position, match_count, body)
     values ('whk_1', 'm', 1, 1, 1, 'b')`,
  );
  await database.run(
    `insert into digests (id, account_id, name, window_seconds, webhook_id, min_matches, empty, max_matches, position,
       covered_until, next_at)
     values ('dig_1', 'acc_1', 'n', 60, 'whk_1', 1, 'skip', 50, 0, now(), now())`,
  );
  await database.run(
    `insert into digest_messages (digest_id, account_id, message_id, number, position_from, position_to, from_at, to_at,
       made_at, next_attempt_at)
     values ('dig_1', 'acc_1', 'm', 1, 0, 1, now(), now(), now(), now())`,
  );
  await database.run(`insert into digest_mails (account_id, day, mails) values ('acc_1', now(), 1)`);
  await database.run(
    `insert into deliveries (id, webhook_id, first_position, last_position, match_count, outcome)
     values ('d', 'whk_1', 1, 1, 1, 'delivered')`,
  );
  await database.run(
    `insert into archives (id, account_id, name, endpoint, region, bucket, prefix, access_key_id, secret, format, position,
       covered_until, next_attempt_at)
     values ('arc_1', 'acc_1', 'n', 'e', 'r', 'b', 'p', 'k', 's', 'parquet', 0, now(), now())`,
  );
  await database.run(
    `insert into archive_objects (archive_id, account_id, hour, first_position, last_position) values ('arc_1', 'acc_1', now(), 1, 1)`,
  );
  await database.run(
    `insert into audit (id, account_id, actor, operation, target_id) values ('aud_1', 'acc_1', 'a', 'o', 't')`,
  );
  await database.run(
    `insert into idempotency_keys (account_id, operation, key, fingerprint, attempt, lease_until)
     values ('acc_1', 'o', 'k', 'f', 'a', now())`,
  );
  await database.run(
    `insert into platform_counts (account_id, platform, value_hash, counts) values ('acc_1', 'x', 'h', '{}')`,
  );
  await database.run(`insert into counts_calls (account_id, day, calls) values ('acc_1', now(), 1)`);
  await database.run(`insert into readers (account_id, name) values ('acc_1', 'r')`);
  await database.run(
    `insert into match_relevance (position, account_id, rule_id, platform, event_day, label)
     values (1, 'acc_1', 'rule_1', 'x', now(), 'relevant')`,
  );
  await database.run(`insert into stories (id, account_id, last_at) values (1, 'acc_1', now())`);
  await database.run(`insert into story_keys (key, story_id, at, account_id) values (1, 1, now(), 'acc_1')`);
  await database.run(
    `insert into story_members (position, story_id, account_id, rule_id, platform, event_day, created_at, because)
     values (1, 1, 'acc_1', 'rule_1', 'x', now(), now(), 'first')`,
  );
  await database.run(`insert into judge_usage (account_id, rule_id, day) values ('acc_1', 'rule_1', now())`);
  await database.run(
    `insert into feeds (id, account_id, name, token_hash) values ('feed_1', 'acc_1', 'f', '')`,
  );
  await database.run(
    `insert into mutes (id, account_id, field, value) values ('mut_1', 'acc_1', 'author', 'a')`,
  );
});
afterEach(() => stack.disposeAsync());

/** Every table with an account column, found in the catalogue so that a new one is not forgotten. */
async function tablesOfAccounts(): Promise<string[]> {
  const rows = await database.many<{ name: string }>(
    `select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid
     where a.attname = 'account_id' and c.relkind in ('r', 'p') and not c.relispartition
       and c.relnamespace = 'public'::regnamespace
       -- For the operator alone: an account has no right to it at all.
       and c.relname <> 'bill_shares' order by 1`,
  );
  return rows.map((row) => row.name);
}

/** They have an account column, and accounts have no right to them at all. */
const notForAccounts = [
  'alert_states',
  'bill_shares',
  'budget_marks',
  'console_links',
  'console_sessions',
  'deleted_accounts',
  'oauth_artefacts',
  'rule_counts',
  'story_keys',
];

test.for(notForAccounts)('an account does not read %s', async (table) => {
  await expect(database.forAccount('acc_1').one(`select 1 from ${table}`)).rejects.toThrow(
    'permission denied',
  );
});

test("a statement without the account condition sees only the account's rows", async () => {
  const tables = [
    ...(await tablesOfAccounts()).filter((name) => !notForAccounts.includes(name)),
    'rule_versions',
    'accounts',
    'webhook_batches',
    'deliveries',
    'slots',
  ];
  const seen = new Map<string, unknown>();
  for (const table of tables) {
    const count = async (sql: Pick<Sql, 'one'>) =>
      (await sql.one<{ count: number }>(`select count(*) from ${table}`))?.count;
    const own = await count(database.forAccount('acc_1'));
    seen.set(table, { all: await count(database), own, other: await count(database.forAccount('acc_2')) });
  }
  const accounts = { all: 2, own: 1, other: 1 };
  for (const [table, counts] of seen) {
    const rows = ['rules', 'rule_versions', 'watches', 'slots', 'slot_holders'].includes(table) ? 3 : 1;
    expect({ table, counts }).toEqual({
      table,
      counts: table === 'accounts' ? accounts : { all: rows, own: rows, other: 0 },
    });
  }
});

test('a statement without the account condition changes no rows of another account', async () => {
  const as = (accountId: string, statement: string) =>
    database.forRuleChange(accountId).transaction((sql) => sql.run(statement));
  expect(await as('acc_2', `update rules set name = 'mine now'`)).toBe(0);
  expect(await as('acc_2', 'update api_keys set revoked_at = now()')).toBe(0);
  const foreign = `insert into rules (id, account_id, name, intent, state) values ('r', 'acc_1', 'n', 'i', 'active')`;
  await expect(as('acc_2', foreign)).rejects.toThrow(/row-level security/);
  expect(await as('acc_1', `update rules set name = 'mine still'`)).toBe(3);
});

test('outside of a transaction an account only reads', async () => {
  await expect(database.forAccount('acc_1').many(`update rules set name = 'x' returning id`)).rejects.toThrow(
    /read-only transaction/,
  );
});

test('no account setting stays on the connection', async () => {
  await database.forAccount('acc_2').one('select 1');
  await expect(database.forAccount('acc_2').one('select 1 from no_such_table')).rejects.toThrow(
    /does not exist/,
  );
  const row = await database.one<{ count: number; role: string }>(
    'select count(*), current_user as role from rules',
  );
  expect(row).toEqual({ count: 3, role: 'postgres' });
});

test('secrets of the installation are not shown', async () => {
  await expect(database.forAccount('acc_1').one('select cursor_secret from installation')).rejects.toThrow(
    /permission denied/,
  );
});

const today = "(now() at time zone 'UTC')::date";

test('a post is read by an account that has a match with it, and by no other', async () => {
  await database.run(
    `insert into posts (platform, event_key, event_day, platform_post_id, payload) values ('x', 'k', ${today}, 'p', '{}')`,
  );
  const read = (accountId: string) =>
    database
      .forAccount(accountId)
      .many(`select platform_post_id from posts_of('{rule_1}', '{k}', '{x}', array[${today}])`);
  expect(await read('acc_1')).toEqual([{ platform_post_id: 'p' }]);
  expect(await read('acc_2')).toEqual([]);
  await expect(database.forAccount('acc_1').many('select * from posts')).rejects.toThrow(/permission denied/);
});

/** What an injected statement could try, with the login of accounts. */
const tricks = [
  ['select * from leases', /permission denied/],
  ['update match_log set last_position = 0', /permission denied/],
  ['select take_positions(1)', /permission denied/],
  ['select take_turn(1, 0, 1)', /permission denied/],
  ['update slots set state = $$releasing$$', /permission denied/],
  ['delete from slot_holders', /permission denied/],
  ['select upstream_rule_id from slots', /permission denied/],
  ['select registered_at from slots', /permission denied/],
  ['select confirmed_at from slots', /permission denied/],
  ['select created_at from slots', /permission denied/],
  ['select * from slot_services', /permission denied/],
  ['update rules set name = $$x$$', /permission denied/],
  ['delete from matches', /permission denied/],
  ['update heads set last_position = 0', /permission denied/],
  ['delete from day_heads', /permission denied/],
  ['delete from match_times', /permission denied/],
  ['update audit set actor = $$x$$', /permission denied/],
  ['update accounts set plan = $$paid$$', /permission denied/],
  ['update api_keys set scopes = $${keys:write}$$', /permission denied/],
  ['update idempotency_keys set fingerprint = $$x$$', /permission denied/],
  ['set role earshot_runtime', /permission denied to set role/],
  ['set role earshot_rules', /permission denied to set role/],
  ['set session authorization earshot_runtime', /permission denied to set session authorization/],
  ["select ensure_partitions('2001-01-01', '2001-01-01')", /permission denied/],
] as const;

test("with a separate login, an account cannot return to the server's login", async () => {
  await using apart = openDatabase({
    url: clone.urls.runtime,
    accountUrl: clone.urls.account,
    connectionsMax: 1,
    onIdleError: () => undefined,
  });
  const as = (statement: string) =>
    apart.forAccount('acc_2').transaction(async (sql) => {
      for (const one of statement.split(';')) await sql.run(one);
      return await sql.one<{ who: string; rules: number; holders: number }>(
        'select current_user as who, (select count(*) from rules) as rules, (select count(*) from slot_holders) as holders',
      );
    });
  const nothing = { who: 'earshot_account', rules: 0, holders: 0 };
  for (const escape of [
    'reset role',
    'set role none',
    "select set_config('role', 'none', false)",
    'reset all',
  ])
    expect(await as(escape)).toEqual(nothing);
  expect(await as('rollback; begin; reset session authorization; set earshot.account = $$$$')).toEqual(
    nothing,
  );
  for (const [statement, refusal] of tricks) await expect(as(statement)).rejects.toThrow(refusal);
  expect(await apart.one('select current_user as who, count(*) as rules from rules')).toEqual({
    who: 'earshot_runtime',
    rules: 3,
  });
});

test('control: with one login for everything, an injected statement can return to it', async () => {
  const seen = await database.forAccount('acc_2').transaction(async (sql) => {
    await sql.run('reset role');
    return await sql.one('select current_user as who, count(*) as rules from rules');
  });
  expect(seen).toEqual({ who: 'postgres', rules: 3 });
});
