import { Client } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTemplate, type Template } from '../src/template.ts';
import { testPostgresUrls } from '../src/test-engines.ts';

async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

const databases = () => query(testPostgresUrls().superuser, 'SELECT datname FROM pg_database ORDER BY oid');

let template: Template;
beforeAll(async () => {
  template = await createTemplate({
    postgresUrls: testPostgresUrls(),
    migrate: async (url) => {
      await query(url, 'CREATE TABLE things (id int)');
    },
  });
});
afterAll(() => template[Symbol.asyncDispose]());

test('clones have what the migration made and do not see each other', async () => {
  const [a, b] = await Promise.all([template.clone(), template.clone()]);
  await query(a.url, 'INSERT INTO things VALUES (1)');
  expect(await query(a.url, 'SELECT id FROM things')).toEqual([{ id: 1 }]);
  expect(await query(b.url, 'SELECT id FROM things')).toEqual([]);
  await Promise.all([a[Symbol.asyncDispose](), b[Symbol.asyncDispose]()]);
});

test('a clone is dropped at its end, even with a connection left open', async () => {
  const client = await (async () => {
    await using clone = await template.clone();
    const open = new Client({ connectionString: clone.url });
    open.on('error', () => {});
    await open.connect();
    return { open, name: new URL(clone.url).pathname.slice(1) };
  })();
  expect(await databases()).not.toContainEqual({ datname: client.name });
  await client.open.end();
});

test('a migration that fails leaves no database behind', async () => {
  let name = '';
  const migrate = async (url: string): Promise<void> => {
    name = new URL(url).pathname.slice(1);
    await query(url, 'no such statement');
  };
  await expect(createTemplate({ postgresUrls: testPostgresUrls(), migrate })).rejects.toThrow('syntax error');
  expect(name).toMatch(/^test_/);
  expect(await databases()).not.toContainEqual({ datname: name });
});
