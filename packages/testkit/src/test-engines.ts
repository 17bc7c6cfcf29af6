import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Nats, NatsSettings, Postgres, PostgresUrls } from '@earshot/engines';
import { startNats, startPostgres } from '@earshot/engines';
import { inject } from 'vitest';
import { storesDir } from './stores-dir.ts';
import { openTemplate, type Template } from './template.ts';

/** The PostgreSQL that the run shares. Test files create their own databases in it: see `createTemplate`. */
function testPostgresUrls(): PostgresUrls {
  return inject('postgresUrls');
}

/** The database that the run migrated once (`apps/server/test/vitest-template.ts`): files take copies of it. */
export function migratedTemplate(): Template {
  return openTemplate({ postgresUrls: testPostgresUrls(), name: inject('migratedTemplate') });
}

/** For databases without anything in them. */
export function emptyTemplate(): Template {
  return openTemplate({ postgresUrls: testPostgresUrls(), name: 'template0' });
}

interface TestNatsOptions extends NatsSettings {
  readonly nodes?: 1 | 3;
  /** The caller's own folder, which is kept with its content. */
  readonly dir?: string;
  readonly ports?: Nats['ports'];
  /** With the users and permissions of production. */
  readonly password?: string;
}

/** Private, empty nats-servers; disposing stops them and deletes their stores. */
export async function startTestNats({
  nodes = 1,
  dir: given,
  ports,
  password,
  ...settings
}: TestNatsOptions = {}): Promise<Nats> {
  const dir = given ?? (await mkdtemp(join(storesDir(), 'earshot-nats-')));
  const remove = async () => {
    if (given === undefined) await rm(dir, { recursive: true, force: true });
  };
  try {
    const nats = await startNats({ server: inject('natsServer'), dir, nodes, ports, password, settings });
    return {
      ...nats,
      async [Symbol.asyncDispose]() {
        await nats.stop();
        await remove();
      },
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** A private PostgreSQL that the test may kill; disposing stops it. `restart` keeps the address. */
export async function startTestPostgres(
  given: { dir?: string } = {},
): Promise<AsyncDisposable & { url: string; port: number; current(): Postgres; restart(): Promise<void> }> {
  const dir = given.dir ?? (await mkdtemp(join(storesDir(), 'earshot-postgres-')));
  let postgres = await startPostgres({ dir });
  const { urls, port } = postgres;
  return {
    url: urls.superuser,
    port,
    current: () => postgres,
    async restart() {
      await postgres.stop();
      postgres = await startPostgres({ dir, port });
    },
    async [Symbol.asyncDispose]() {
      await postgres.stop();
      if (given.dir === undefined) await rm(dir, { recursive: true, force: true });
    },
  };
}
