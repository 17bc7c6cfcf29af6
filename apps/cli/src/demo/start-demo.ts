import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { findNatsServer, type Nats, startNats, startPostgres } from '@earshot/engines';
import { type Admin, migrate, openAdmin } from '@earshot/server/admin';
import { buildConsole, isConsoleBuilt } from './console-build.ts';
import { startDemoSandbox, startDemoServer } from './programs.ts';
import { together } from './together.ts';

const natsServerCache = resolve(import.meta.dirname, '../../../../.earshot/cache');

export type Demo = Awaited<ReturnType<typeof startDemo>>;

export interface DemoOptions {
  /** The API uses the first free port of these; 0 is any free port. */
  readonly ports: readonly number[];
  /** Posts and pages per second, in the format of the sandbox. */
  readonly feed: string;
  /** A Jetstream instance; null without Bluesky. */
  readonly blueskyUrl: string | null;
  readonly natsNodes: 1 | 3;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Stops the start between two steps. */
  readonly signal: AbortSignal;
  readonly log: (progress: string) => void;
}

/** Starts PostgreSQL, NATS, the sandbox and a server on this machine. Disposing stops them and deletes their data. */
export async function startDemo(options: DemoOptions) {
  const { ports, feed, signal, log } = options;
  await using stack = new AsyncDisposableStack();
  const dir = await temporaryFolder(stack);
  const timed = stopwatch(log);

  const postgresStarts = startPostgres({ dir: join(dir, 'postgres') });
  const [postgres, nats, sandbox] = await together(
    timed('PostgreSQL', use(stack, postgresStarts)),
    timed('NATS', use(stack, startNatsFor(options, dir))),
    timed('Sandbox for X and Firehose', use(stack, startDemoSandbox({ dir, feed }))),
    buildConsoleFor(options, timed),
  );
  signal.throwIfAborted();

  const serverStarts = startDemoServer({
    dir,
    ports,
    postgres: postgres.urls,
    natsUrl: nats.url,
    sandboxUrl: sandbox.url,
    blueskyUrl: options.blueskyUrl,
  });
  const [server, keys] = await together(
    timed('Earshot server', use(stack, serverStarts)),
    timed('Two accounts with a key each', createKeys(postgres.urls.owner)),
  );
  signal.throwIfAborted();

  const started = stack.move();
  return {
    baseUrl: server.url,
    sandboxUrl: sandbox.url,
    /** Keys of two accounts. */
    keys,
    /** Resolves with a message when the server or the sandbox ends unexpectedly. */
    ended: Promise.race([server.ended, sandbox.ended]),
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}

async function temporaryFolder(stack: AsyncDisposableStack): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'earshot-demo-'));
  stack.defer(() => rm(dir, { recursive: true, force: true }));
  // If root starts PostgreSQL, it runs as another user, who needs access to its folder.
  await chmod(dir, 0o711);
  return dir;
}

async function startNatsFor({ natsNodes, env, log }: DemoOptions, dir: string): Promise<Nats> {
  const configured = env['EARSHOT_NATS_SERVER'];
  const server = await findNatsServer({ cacheDir: natsServerCache, configured, log });
  const password = randomBytes(24).toString('hex');
  return startNats({ server, dir: join(dir, 'nats'), nodes: natsNodes, password });
}

/** If the build fails, the demo starts anyway, and the page of the console explains how to build it. */
async function buildConsoleFor({ env, log }: DemoOptions, timed: Stopwatch): Promise<void> {
  if (await isConsoleBuilt()) return;
  try {
    await timed('Console', buildConsole(env));
  } catch (error) {
    log(`The console could not be built: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Migrates the database and creates two accounts, each with a key. */
export async function createKeys(databaseUrl: string): Promise<readonly [string, string]> {
  await migrate(databaseUrl);
  await using admin = await openAdmin(databaseUrl);
  return [await createKey(admin, 'Demo'), await createKey(admin, 'Second demo')];
}

async function createKey(admin: Admin, accountName: string): Promise<string> {
  const { accountId } = await admin.createAccount({ name: accountName });
  const created = await admin.createKey({ accountId });
  if (created === null) throw new Error(`the account ${accountId} is gone`);
  return created.key;
}

async function use<Resource extends AsyncDisposable>(
  stack: AsyncDisposableStack,
  starting: Promise<Resource>,
): Promise<Resource> {
  return stack.use(await starting);
}

type Stopwatch = <Result>(name: string, work: Promise<Result>) => Promise<Result>;

function stopwatch(log: (progress: string) => void): Stopwatch {
  return async <Result>(name: string, work: Promise<Result>): Promise<Result> => {
    const startedAt = performance.now();
    const result = await work;
    log(`${((performance.now() - startedAt) / 1_000).toFixed(1).padStart(5)} s  ${name}`);
    return result;
  };
}
