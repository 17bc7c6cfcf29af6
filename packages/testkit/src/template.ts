import { randomBytes } from 'node:crypto';
import type { PostgresUrls } from '@earshot/engines';
import { Client } from 'pg';

export interface TestDatabase extends AsyncDisposable {
  /** The superuser's: for tests that need all rights, and for a single login. */
  readonly url: string;
  readonly urls: PostgresUrls;
}

export interface Template extends AsyncDisposable {
  /** A new database with the template's content, in milliseconds. Disposing drops it, open connections or not. */
  clone(): Promise<TestDatabase>;
}

interface TemplateOptions {
  postgresUrls: PostgresUrls;
  /** Fills the empty database as its owner. It must leave no connection open: PostgreSQL does not copy a database in use. */
  migrate: (url: string) => Promise<void>;
}

export async function createTemplate({
  postgresUrls,
  migrate,
}: TemplateOptions): Promise<Template & { readonly name: string }> {
  const template = await createDatabase(postgresUrls, 'template0');
  try {
    await migrate(template.urls.owner);
  } catch (error) {
    await template[Symbol.asyncDispose]();
    throw error;
  }
  return {
    name: template.name,
    clone: () => createDatabase(postgresUrls, template.name),
    [Symbol.asyncDispose]: template[Symbol.asyncDispose],
  };
}

/** An existing template, which is not dropped. */
export function openTemplate(options: { postgresUrls: PostgresUrls; name: string }): Template {
  return {
    clone: () => createDatabase(options.postgresUrls, options.name),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

async function createDatabase(postgres: PostgresUrls, template: string) {
  const name = `test_${randomBytes(8).toString('hex')}`;
  const here = (given: string) => {
    const url = new URL(given);
    url.pathname = name;
    return url.href;
  };
  await execute(postgres.superuser, `CREATE DATABASE ${name} TEMPLATE ${template} OWNER earshot_owner`);
  return {
    name,
    url: here(postgres.superuser),
    urls: {
      superuser: here(postgres.superuser),
      owner: here(postgres.owner),
      runtime: here(postgres.runtime),
      account: here(postgres.account),
    },
    [Symbol.asyncDispose]: () => execute(postgres.superuser, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
  };
}

async function execute(url: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
