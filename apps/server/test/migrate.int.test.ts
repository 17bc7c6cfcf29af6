import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { emptyTemplate, migratedTemplate } from '@earshot/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openAdmin } from '../src/admin.ts';
import { startNode } from '../src/compose/node.ts';
import { readConfig } from '../src/config/config.ts';
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

test('several nodes that start at once apply each migration once', async () => {
  await using empty = await emptyTemplate().clone();
  const planned = await planMigrations(empty.urls.owner);
  const applied = await Promise.all(Array.from({ length: 4 }, () => migrate(empty.urls.owner)));
  expect(applied.flat().toSorted()).toEqual(planned);
  expect(await planMigrations(empty.urls.owner)).toEqual([]);
});

test('a migration may take longer than a request, and a failed one leaves the database as it was', async () => {
  await using clone = await migratedTemplate().clone();
  await using database = openTestDatabase(clone.url);
  const from = await withMore({
    '9000_slow.sql': `create table seen as select current_setting('statement_timeout') as timeout;`,
    '9001_broken.sql': 'create table half (id integer); select nonsense;',
  });
  await expect(migrate(clone.url, { from })).rejects.toThrow('nonsense');
  expect(await database.one(`select to_regclass('seen') as seen`)).toEqual({ seen: null });
  expect(await planMigrations(clone.url, { from })).toEqual(['9000_slow.sql', '9001_broken.sql']);
  const fixed = await withMore({
    '9000_slow.sql': `create table seen as select current_setting('statement_timeout') as timeout;`,
  });
  expect(await migrate(clone.url, { from: fixed })).toEqual(['9000_slow.sql']);
  expect(await database.one('select timeout from seen')).toEqual({ timeout: '0' });
});

describe('a version refuses a database', () => {
  test('that a newer version has migrated', async () => {
    await using clone = await migratedTemplate().clone();
    await migrate(clone.url, { from: await withMore({ '9000_newer.sql': 'create table newer ();' }) });
    await expect(planMigrations(clone.url)).rejects.toThrow(
      'A newer version has migrated this database (9000_newer.sql)',
    );
    await expect(openAdmin(clone.url)).rejects.toThrow('9000_newer.sql');
  });

  test('whose migrations differ from its own', async () => {
    await using clone = await migratedTemplate().clone();
    const from = await withMore({ '0015_rights.sql': '-- edited' });
    await expect(planMigrations(clone.url, { from })).rejects.toThrow(
      '0015_rights.sql differs from what was applied',
    );
  });

  test('that lacks a migration, if it does not migrate itself', async () => {
    await using empty = await emptyTemplate().clone();
    await expect(openAdmin(empty.url)).rejects.toThrow('Run `earshot admin migrate --apply`');
    const config = readConfig({
      EARSHOT_DATABASE_URL: empty.url,
      EARSHOT_NATS_URL: 'nats://127.0.0.1:1',
      EARSHOT_MIGRATE_AT_START: 'false',
    });
    const starting = startNode({ config, log: silentLog, checkpoint: () => undefined });
    await expect(starting).rejects.toThrow('Run `earshot admin migrate --apply`');
    await using database = openTestDatabase(empty.url, 1);
    expect(await database.one(`select to_regclass('migrations') as table`)).toEqual({ table: null });
  });
});
