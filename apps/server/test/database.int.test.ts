import type { Template } from '@earshot/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database, Sql } from '../src/engines/database.ts';
import { createMigratedTemplate, openTestDatabase } from './support.ts';

let template: Template;
beforeAll(async () => {
  template = await createMigratedTemplate();
});
afterAll(() => template?.[Symbol.asyncDispose]());

/** As when PostgreSQL crashes or is shut down: the server ends the connection that `sql` runs on. */
async function cut(sql: Sql, database: Database): Promise<void> {
  const row = await sql.one<{ pid: number }>('select pg_backend_pid() as pid');
  await database.run('select pg_terminate_backend($1, 10000)', [row?.pid]);
}

// Without a listener the connection's "error" event is an uncaught exception, which fails the run.
test('a connection that breaks between two statements of a transaction is "unavailable"', async () => {
  await using clone = await template.clone();
  await using database = openTestDatabase(clone.url);
  const broken = database.transaction(async (sql) => {
    await cut(sql, database);
    await sql.one('select 1');
  });
  await expect(broken).rejects.toMatchObject({ code: 'unavailable' });
  await expect(database.transaction((sql) => sql.one('select 1 as one'))).resolves.toEqual({ one: 1 });
});

test('a connection that breaks during a statement of a transaction is "unavailable"', async () => {
  await using clone = await template.clone();
  await using database = openTestDatabase(clone.url);
  const broken = database.transaction(async (sql) => {
    await Promise.all([cut(sql, database), sql.one('select pg_sleep(60)')]);
  });
  await expect(broken).rejects.toMatchObject({ code: 'unavailable' });
  await expect(database.transaction((sql) => sql.one('select 1 as one'))).resolves.toEqual({ one: 1 });
});

test('PostgreSQL compiles no statement of ours', async () => {
  await using clone = await template.clone();
  await using database = openTestDatabase(clone.url);
  await expect(database.one(`select current_setting('jit') as jit`)).resolves.toEqual({ jit: 'off' });
});
