import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { findNatsServer, type PostgresUrls, startPostgres } from '@earshot/engines';
import type { TestProject } from 'vitest/node';
import { storesDir } from './stores-dir.ts';

declare module 'vitest' {
  interface ProvidedContext {
    postgresUrls: PostgresUrls;
    natsServer: string;
    /** Its name on the shared PostgreSQL. */
    migratedTemplate: string;
    isNightly: boolean;
    /** Removed with its content at the end of the run. */
    runDir: string;
  }
}

/** Runs once before the first project that needs it: starts one PostgreSQL, and finds the nats-server program. */
export async function setup({ vitest }: TestProject): Promise<(() => Promise<void>) | undefined> {
  if ('postgresUrls' in vitest.getProvidedContext()) return undefined;
  const dir = await mkdtemp(join(storesDir(), 'earshot-test-'));
  // Retries, because a program that ends with its worker may still write files.
  const remove = () => rm(dir, { recursive: true, force: true, maxRetries: 5 });
  try {
    const [natsServer, postgres] = await Promise.all([
      findNatsServer({
        cacheDir: join(vitest.config.root, '.earshot/cache'),
        configured: process.env['EARSHOT_NATS_SERVER'],
      }),
      startPostgres({ dir }),
    ]);
    vitest.provide('natsServer', natsServer);
    vitest.provide('postgresUrls', postgres.urls);
    vitest.provide('runDir', dir);
    return async () => {
      await postgres.stop();
      await remove();
    };
  } catch (error) {
    await remove();
    throw error;
  }
}
