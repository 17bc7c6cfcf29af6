import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { emptyTemplate, eventually, migratedTemplate } from '@earshot/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openAdmin } from '../src/admin.ts';
import { startNode } from '../src/compose/node.ts';
import { readConfig } from '../src/config.ts';
import type { Database, Sql } from '../src/engines/database.ts';
import { migrate, planMigrations } from '../src/engines/migrate.ts';
import { openTestDatabase, silentLog } from './support.ts';

const ours = new URL('../migrations/', import.meta.url);
let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'earshot-migrations-'));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

/** Our migrations and these. */
async function withMore(more: Readonly<Record<string, string>>): Promise<URL> {
  const folder = await mkdtemp(join(dir, 'files-'));
  await cp(ours, folder, { recursive: true });
  for (const [name, text] of Object.entries(more)) await writeFile(join(folder, name), text);
  return pathToFileURL(`${folder}/`);
}

/** A transaction that has read a table and stays open, like that of a backup. */
async function holdOpen(database: Database, statement: string): Promise<{ end(): Promise<void> }> {
  const read = Promise.withResolvers<void>();
  const end = Promise.withResolvers<void>();
  const transaction = database.transaction(async (sql: Sql) => {
    await sql.run('set local idle_in_transaction_session_timeout = 0');
    await sql.run(statement);
    read.resolve();
    await end.promise;
  });
  await read.promise;
  return {
    async end() {
      end.resolve();
      await transaction;
    },
  };
}

const addColumn = { '9000_column.sql': 'alter table matches add column added integer;' };

test('several nodes that start at once apply each migration once', async () => {
  await using empty = await emptyTemplate().clone();
  const planned = await planMigrations(empty.urls.owner);
  const applied = await Promise.all(Array.from({ length: 4 }, () => migrate(empty.urls.owner)));
  expect(applied.flat().toSorted()).toEqual(planned);
  expect(await planMigrations(empty.urls.owner)).toEqual([]);
});

describe('beside a transaction that stays open on a table', () => {
  /** How long somebody else's reads of the table take while `changing` goes on. */
  async function readsDuring(database: Database, changing: Promise<unknown>): Promise<number[]> {
    const times: number[] = [];
    const ended = changing.then(
      () => true,
      () => true,
    );
    while (!(await Promise.race([ended, sleep(50, false)]))) {
      const startedAt = performance.now();
      await database.run('select 1 from matches limit 1');
      times.push(performance.now() - startedAt);
    }
    return times;
  }

  test('a migration waits for it, says for whom, and holds nobody up for long', async () => {
    await using clone = await migratedTemplate().clone();
    await using database = openTestDatabase(clone.url);
    const from = await withMore(addColumn);
    const backup = await holdOpen(database, 'select 1 from matches limit 1');
    const waits: (readonly string[])[] = [];
    const migrating = migrate(clone.url, {
      from,
      onWait: ({ sessions }) => {
        waits.push(sessions);
        if (waits.length === 2) void backup.end();
      },
    });
    const times = await readsDuring(database, migrating);
    expect(await migrating).toEqual(['9000_column.sql']);
    expect(waits).toHaveLength(2);
    // One of the reads may be under way as well.
    expect(waits[0]).toContainEqual(expect.stringMatching(/^pid \d+ \(earshot\), for \d+ s$/));
    // It waits a second for the lock; a request waits behind it, and then has two seconds.
    expect(Math.max(...times)).toBeGreaterThan(300);
    expect(Math.max(...times)).toBeLessThan(2_000);
  });

  test('control: without a limit on the wait, everybody waits as long as that transaction', async () => {
    await using clone = await migratedTemplate().clone();
    await using database = openTestDatabase(clone.url);
    const backup = await holdOpen(database, 'select 1 from matches limit 1');
    setTimeout(() => void backup.end(), 4_000);
    const times = await readsDuring(database, database.run(addColumn['9000_column.sql']));
    expect(Math.max(...times)).toBeGreaterThan(2_000);
  });

  test('it gives up in the end, and names those that it waited for', async () => {
    await using clone = await migratedTemplate().clone();
    await using database = openTestDatabase(clone.url);
    const backup = await holdOpen(database, 'select 1 from matches limit 1');
    const migrating = migrate(clone.url, { from: await withMore(addColumn), patienceMs: 0 });
    await expect(migrating).rejects.toThrow(/9000_column\.sql could not get its locks.* pid \d+ \(earshot\)/);
    await backup.end();
  });

  test('an index can be made outside of a transaction, without any lock that others wait for', async () => {
    await using clone = await migratedTemplate().clone();
    await using database = openTestDatabase(clone.url);
    const from = await withMore({
      '9000_index.sql': `-- outside of a transaction

drop index concurrently if exists by_plan;

create index concurrently by_plan on accounts (plan);
`,
    });
    const backup = await holdOpen(database, 'select 1 from accounts');
    const migrating = migrate(clone.url, { from });
    for (let n = 0; n < 10; n += 1) {
      await database.run('insert into accounts (id, name, plan) values ($1, $1, $2)', [`acc_${n}`, 'paid']);
    }
    await backup.end();
    expect(await migrating).toEqual(['9000_index.sql']);
    expect(
      await database.one(`select 1 as there from pg_indexes where indexname = 'by_plan'`),
    ).not.toBeNull();
  });
});

describe('an index on all matches', () => {
  const createIndex = {
    '9000_index.sql': `-- outside of a transaction

-- Who asks for it.
create index concurrently matches_by_via on matches (via, position);
`,
  };
  const today = `matches_${new Date().toISOString().slice(0, 10).replaceAll('-', '')}`;
  const day = (days: number) => `(now() at time zone 'UTC')::date + ${days}`;
  const write = (database: Database, key: string, days = 0) =>
    database.run(
      `insert into matches (position, account_id, rule_id, rule_version, platform, event_key, event_day)
       values (1, 'acc_1', 'rule_1', 1, 'x', $1, ${day(days)})`,
      [key],
    );
  const isUsable = async (database: Database) => {
    const row = await database.one<{ usable: boolean; partitions: number }>(
      `select indisvalid as usable, (select count(*) from pg_inherits where inhparent = indexrelid) as partitions
       from pg_index where indexrelid = 'matches_by_via'::regclass`,
    );
    const tables = await database.many(`select 1 from pg_inherits where inhparent = 'matches'::regclass`);
    return row?.usable === true && row.partitions === tables.length;
  };

  test('is made beside writers and readers, on every partition, also on one that comes meanwhile', async () => {
    await using clone = await migratedTemplate().clone();
    await using database = openTestDatabase(clone.url);
    const writer = await holdOpen(database, `lock table ${today} in row exclusive mode`);
    const migrating = migrate(clone.url, { from: await withMore(createIndex) });
    const waiting = `select 1 from pg_stat_activity where query like 'create index concurrently%' and wait_event_type = 'Lock'
      and datname = current_database()`;
    await eventually(async () => expect(await database.many(waiting)).toHaveLength(1), { timeoutMs: 20_000 });
    await write(database, 'beside');
    await database.run(`select ensure_partitions(${day(30)}, ${day(30)})`);
    await write(database, 'new', 30);
    await writer.end();
    expect(await migrating).toEqual(['9000_index.sql']);
    expect(await isUsable(database)).toBe(true);
  });

  test('goes on where it was interrupted', async () => {
    await using clone = await migratedTemplate().clone();
    await using database = openTestDatabase(clone.url);
    const from = await withMore(createIndex);
    const writer = await holdOpen(database, `lock table ${today} in row exclusive mode`);
    const migrating = migrate(clone.url, { from });
    const cancel = `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database()
      and query like 'create index concurrently%' and wait_event_type = 'Lock'`;
    const cancelled = async () => expect(await database.many(cancel)).toHaveLength(1);
    await Promise.all([
      expect(migrating).rejects.toThrow('database'),
      eventually(cancelled, { timeoutMs: 20_000 }),
    ]);
    await writer.end();
    const invalid = await database.many('select 1 from pg_index where not indisvalid');
    expect(invalid.length).toBeGreaterThan(1);
    expect(await migrate(clone.url, { from })).toEqual(['9000_index.sql']);
    expect(await isUsable(database)).toBe(true);
  });

  test('is made once by several nodes that start at once', async () => {
    await using clone = await migratedTemplate().clone();
    await using database = openTestDatabase(clone.url);
    const from = await withMore(createIndex);
    const applied = await Promise.all(Array.from({ length: 3 }, () => migrate(clone.url, { from })));
    expect(applied.flat()).toEqual(['9000_index.sql']);
    expect(await isUsable(database)).toBe(true);
  });
});

test('a node that waits for its turn has no transaction open, for which an index made concurrently would wait', async () => {
  await using clone = await migratedTemplate().clone();
  await using database = openTestDatabase(clone.url);
  const other = await holdOpen(database, `select pg_advisory_xact_lock(hashtext('earshot migrations'))`);
  const migrating = migrate(clone.url, {
    from: await withMore({ '9000_more.sql': 'create table more ();' }),
  });
  const states = async () =>
    (
      await database.many<{ state: string }>(
        `select state from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
           and query like '%pg_try_advisory%'`,
      )
    ).map(({ state }) => state);
  await eventually(async () => expect(await states()).toHaveLength(1), { timeoutMs: 20_000 });
  for (let look = 0; look < 20; look += 1) expect(await states()).not.toContain('idle in transaction');
  await other.end();
  expect(await migrating).toEqual(['9000_more.sql']);
});

test('a migration may take longer than a statement of a request, and one that fails leaves the ones before', async () => {
  await using clone = await migratedTemplate().clone();
  await using database = openTestDatabase(clone.url);
  const from = await withMore({
    '9000_slow.sql': `create table seen as select current_setting('statement_timeout') as timeout;`,
    '9001_broken.sql': 'create table half (id integer); select nonsense;',
  });
  await expect(migrate(clone.url, { from })).rejects.toThrow('nonsense');
  expect(await database.one('select timeout from seen')).toEqual({ timeout: '0' });
  expect(await database.one(`select to_regclass('half') as half`)).toEqual({ half: null });
  expect(await planMigrations(clone.url, { from })).toEqual(['9001_broken.sql']);
});

describe('a version refuses a database', () => {
  test('that a newer one has migrated', async () => {
    await using clone = await migratedTemplate().clone();
    await migrate(clone.url, { from: await withMore({ '9000_newer.sql': 'create table newer ();' }) });
    await expect(planMigrations(clone.url)).rejects.toThrow(
      'A newer version has migrated this database (9000_newer.sql)',
    );
    await expect(openAdmin(clone.url)).rejects.toThrow('9000_newer.sql');
  });

  test('unless that migration says that they can run beside each other', async () => {
    await using clone = await migratedTemplate().clone();
    const next = { '9000_next.sql': '-- compatible with 0007_size.sql\ncreate table next ();' };
    const afterNext = { '9001_after.sql': '-- compatible with 9000_next.sql\ncreate table after ();' };
    await migrate(clone.url, { from: await withMore(next) });
    expect(await planMigrations(clone.url)).toEqual([]);
    await migrate(clone.url, { from: await withMore({ ...next, ...afterNext }) });
    expect(await planMigrations(clone.url, { from: await withMore(next) })).toEqual([]);
    await expect(planMigrations(clone.url)).rejects.toThrow('9001_after.sql');
  });

  test('whose migrations were not what its own are', async () => {
    await using clone = await migratedTemplate().clone();
    const from = await withMore({ '0005_roles.sql': '-- edited' });
    await expect(planMigrations(clone.url, { from })).rejects.toThrow(
      '0005_roles.sql is not what was applied',
    );
  });

  test('that lacks a migration, where it does not migrate itself', async () => {
    await using empty = await emptyTemplate().clone();
    await expect(openAdmin(empty.url)).rejects.toThrow('run `earshot admin migrate --apply`');
    const config = readConfig({
      EARSHOT_DATABASE_URL: empty.url,
      EARSHOT_NATS_URL: 'nats://127.0.0.1:1',
      EARSHOT_MIGRATE_AT_START: 'false',
    });
    const starting = startNode({ config, log: silentLog, checkpoint: () => undefined });
    await expect(starting).rejects.toThrow('run `earshot admin migrate --apply`');
    await using database = openTestDatabase(empty.url, 1);
    expect(await database.one(`select to_regclass('migrations') as table`)).toEqual({ table: null });
  });
});
