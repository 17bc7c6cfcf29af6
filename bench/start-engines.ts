import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findNatsServer, type Nats, startNats, startPostgres } from '@earshot/engines';

export const root = fileURLToPath(new URL('..', import.meta.url));

export interface Engines {
  /** Folder for logs and other files of the run; deleted at its end. */
  readonly dir: string;
  readonly postgresUrl: string;
  readonly superuserUrl: string;
  readonly postgresPid: number;
  readonly nats: Nats;
}

/** A private PostgreSQL and nats-servers with production's durable settings. */
export async function startEngines(stack: AsyncDisposableStack, natsNodes: 1 | 3): Promise<Engines> {
  const dir = await mkdtemp(join(tmpdir(), 'earshot-bench-'));
  // If root starts PostgreSQL, it runs as another user, which must have access to its data.
  await chmod(dir, 0o711);
  stack.defer(() => rm(dir, { recursive: true, force: true }));
  const server = await findNatsServer({
    cacheDir: join(root, '.earshot/cache'),
    configured: process.env['EARSHOT_NATS_SERVER'],
  });
  const postgres = await startPostgres({ dir: join(dir, 'postgres') });
  stack.defer(() => postgres.stop());
  const nats = stack.use(await startNats({ server, dir: join(dir, 'nats'), nodes: natsNodes }));
  const { owner: postgresUrl, superuser: superuserUrl } = postgres.urls;
  return {
    dir,
    postgresUrl,
    superuserUrl,
    postgresPid: postgres.pid,
    nats,
  };
}
