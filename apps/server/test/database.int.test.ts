import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Database, type Sql, textArray } from '../src/engines/database.ts';
import { createMigratedTemplate, openTestDatabase } from './support.ts';

let stack: AsyncDisposableStack;
let database: Database;
beforeAll(async () => {
  stack = new AsyncDisposableStack();
  const template = stack.use(await createMigratedTemplate());
  database = stack.use(openTestDatabase(stack.use(await template.clone()).url));
});
afterAll(() => stack?.disposeAsync());

/** As when PostgreSQL crashes or is shut down: the server closes the connection that `sql` runs on. */
async function cut(sql: Sql): Promise<void> {
  const row = await sql.one<{ pid: number }>('select pg_backend_pid() as pid');
  await database.run('select pg_terminate_backend($1, 10000)', [row?.pid]);
}

// Without a listener the connection's "error" event is an uncaught exception, which fails the run.
test('a connection that breaks between two statements of a transaction is "unavailable"', async () => {
  const broken = database.transaction(async (sql) => {
    await cut(sql);
    await sql.one('select 1');
  });
  await expect(broken).rejects.toMatchObject({ code: 'unavailable' });
  await expect(database.transaction((sql) => sql.one('select 1 as one'))).resolves.toEqual({ one: 1 });
});

test('a connection that breaks during a statement of a transaction is "unavailable"', async () => {
  const broken = database.transaction(async (sql) => {
    await Promise.all([cut(sql), sql.one('select pg_sleep(60)')]);
  });
  await expect(broken).rejects.toMatchObject({ code: 'unavailable' });
  await expect(database.transaction((sql) => sql.one('select 1 as one'))).resolves.toEqual({ one: 1 });
});

test('PostgreSQL JIT-compiles none of our statements', async () => {
  await expect(database.one(`select current_setting('jit') as jit`)).resolves.toEqual({ jit: 'off' });
});

test.each([
  ['nothing', []],
  [
    'JSON, empty texts and characters that arrays in text form must escape',
    ['{"a":"b\\n"}', '', 'NULL', '{,}', '"\\', ' a '],
  ],
  ['characters of two, three and four bytes', ['é', '漢字', '👋🏽']],
  ['many', Array.from({ length: 1_000 }, (_, n) => `${n}`.repeat(n % 50))],
])('PostgreSQL reads an array of %s unchanged', async (_, values) => {
  const row = await database.one<{ given: string[] }>('select $1::text[] as given', [textArray(values)]);
  expect(row?.given).toEqual(values);
});

test('a text with U+0000 is refused as invalid data, not truncated', async () => {
  const query = database.one('select $1::text[]', [textArray(['a\0b'])]);
  await expect(query).rejects.toMatchObject({ code: '22021' });
});
