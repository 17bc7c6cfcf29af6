import { randomBytes } from 'node:crypto';
import { Client } from 'pg';

export interface TestDatabase extends AsyncDisposable {
  readonly url: string;
}

export interface Template extends AsyncDisposable {
  /** A new database with the template's content, in milliseconds. Disposing drops it, open connections or not. */
  clone(): Promise<TestDatabase>;
}

interface TemplateOptions {
  postgresUrl: string;
  /** Fills the empty database. It must leave no connection open: PostgreSQL does not copy a database in use. */
  migrate: (url: string) => Promise<void>;
}

export async function createTemplate({
  postgresUrl,
  migrate,
}: TemplateOptions): Promise<Template & { readonly name: string }> {
  const template = await createDatabase(postgresUrl, 'template0');
  try {
    await migrate(template.url);
  } catch (error) {
    await template[Symbol.asyncDispose]();
    throw error;
  }
  return {
    name: template.name,
    clone: () => createDatabase(postgresUrl, template.name),
    [Symbol.asyncDispose]: template[Symbol.asyncDispose],
  };
}

/** A template that somebody else made, and keeps. */
export function openTemplate(options: { postgresUrl: string; name: string }): Template {
  return {
    clone: () => createDatabase(options.postgresUrl, options.name),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

async function createDatabase(postgresUrl: string, template: string) {
  const name = `test_${randomBytes(8).toString('hex')}`;
  const url = new URL(postgresUrl);
  url.pathname = name;
  await execute(postgresUrl, `CREATE DATABASE ${name} TEMPLATE ${template}`);
  return {
    name,
    url: url.href,
    [Symbol.asyncDispose]: () => execute(postgresUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
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
