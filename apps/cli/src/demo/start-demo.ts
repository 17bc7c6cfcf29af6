import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { findNatsServer, type Nats, startNats, startPostgres } from '@earshot/engines';
import { type Admin, migrate, openAdmin } from '@earshot/server/admin';
import { buildConsole, isConsoleBuilt } from './console-build.ts';
import { startDemoSandbox, startDemoServer } from './programs.ts';

const natsServerCache = resolve(import.meta.dirname, '../../../../.earshot/cache');

export type Demo = Awaited<ReturnType<typeof startDemo>>;

export interface DemoOptions {
  /** The API takes the first of them that is free; 0 is any. */
  readonly ports: readonly number[];
  /** Posts and pages per second, as the sandbox takes them. */
  readonly feed: string;
  readonly natsNodes: 1 | 3;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Ends a start between two of its steps. */
  readonly signal: AbortSignal;
  readonly log: (progress: string) => void;
}

/** A whole Earshot on this machine: engines, sandbox, server. Disposing stops all of it and deletes its data. */
export async function startDemo(options: DemoOptions) {
  const { ports, feed, signal, log } = options;
  await using stack = new AsyncDisposableStack();
  const dir = await temporaryFolder(stack);
  const timed = stopwatch(log);

  const postgresStarts = startPostgres({ dir: join(dir, 'postgres') });
  const [postgres, nats, sandbox] = await together(
    timed('PostgreSQL', use(stack, postgresStarts)),
    timed('NATS', use(stack, startNatsFor(options, dir))),
    timed('Sandbox in the place of X and Firehose', use(stack, startDemoSandbox({ dir, feed }))),
    buildConsoleFor(options, timed),
  );
  signal.throwIfAborted();

  const serverStarts = startDemoServer({
    dir,
    ports,
    postgres: postgres.urls,
    natsUrl: nats.url,
    sandboxUrl: sandbox.url,
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
    /** Of two accounts. */
    keys,
    /** Resolves, with words, when a part ends by itself. */
    ended: Promise.race([server.ended, sandbox.ended]),
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}

async function temporaryFolder(stack: AsyncDisposableStack): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'earshot-demo-'));
  stack.defer(() => rm(dir, { recursive: true, force: true }));
  // Started by root, PostgreSQL runs as another user, who must be able to pass through to its folder.
  await chmod(dir, 0o711);
  return dir;
}

async function startNatsFor({ natsNodes, env, log }: DemoOptions, dir: string): Promise<Nats> {
  const configured = env['EARSHOT_NATS_SERVER'];
  const server = await findNatsServer({ cacheDir: natsServerCache, configured, log });
  const password = randomBytes(24).toString('hex');
  return startNats({ server, dir: join(dir, 'nats'), nodes: natsNodes, password });
}

/** Everything else works without it, and its page says how to build it. */
async function buildConsoleFor({ env, log }: DemoOptions, timed: Stopwatch): Promise<void> {
  if (await isConsoleBuilt()) return;
  try {
    await timed('Console', buildConsole(env));
  } catch (error) {
    log(`The console could not be built: ${error instanceof Error ? error.message : String(error)}`);
  }
}

async function createKeys(databaseUrl: string): Promise<readonly [string, string]> {
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

/** Waits for all of them, also when one fails: a part that is still starting could not be stopped. */
async function together<Parts extends Promise<unknown>[]>(
  ...parts: Parts
): Promise<{ [Index in keyof Parts]: Awaited<Parts[Index]> }> {
  await Promise.allSettled(parts);
  return Promise.all(parts);
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
