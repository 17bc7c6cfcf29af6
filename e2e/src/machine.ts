import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { compileCache, findPostgresBinaries, startPostgres, unprivilegedUser } from '@earshot/engines';
import { type SandboxOptions, startSandbox } from '@earshot/sandbox';
import { openAdmin } from '@earshot/server/admin';
import { eventually, startTestNats } from '@earshot/testkit';
import { expect } from 'vitest';
import { repository } from './demo-process.ts';
import { createSandboxClient, type SandboxClient } from './sandbox-client.ts';
import { tapToken, xToken } from './world.ts';

interface RunOptions {
  readonly cwd?: string;
  /** Runs as the user that runs PostgreSQL. */
  readonly asPostgres?: boolean;
}

/** A folder for PostgreSQL, NATS and files, and a sandbox in place of the platforms. */
export async function startTrial(sandboxOptions: SandboxOptions = {}) {
  const stack = new AsyncDisposableStack();
  const dir = await mkdtemp(join(tmpdir(), 'earshot-pages-'));
  // If root runs the tests, PostgreSQL runs as another user, who needs access to its data.
  await chmod(dir, 0o711);
  stack.defer(() => rm(dir, { recursive: true, force: true }));
  const oneOfEach = { xApps: [{ token: xToken }], taps: [{ token: tapToken }], ruleDelayMs: 0 };
  const sandbox = stack.use(await startSandbox({ ...oneOfEach, ...sandboxOptions }));
  const upstreams = { EARSHOT_X_BASE_URL: sandbox.url, EARSHOT_FIREHOSE_BASE_URL: sandbox.url };
  return { stack, dir, upstreams, sandbox: createSandboxClient(sandbox.url) };
}

/** PostgreSQL and NATS as on a single machine, both below one folder. */
export async function startMachine(stack: AsyncDisposableStack, dir: string) {
  const postgres = await startPostgres({ dir: join(dir, 'postgres') });
  const nats = await startTestNats({ dir: join(dir, 'nats'), password: 'machine' });
  const stop = async () => {
    await nats.stop();
    await postgres.stop();
  };
  stack.defer(stop);
  const env = {
    EARSHOT_DATABASE_URL: postgres.urls.runtime,
    EARSHOT_ACCOUNT_DATABASE_URL: postgres.urls.account,
    EARSHOT_MIGRATION_DATABASE_URL: postgres.urls.owner,
    EARSHOT_NATS_URL: nats.url,
    EARSHOT_X_TOKENS: `main=${xToken}`,
    EARSHOT_FIREHOSE_TOKENS: `main=${tapToken}`,
    EARSHOT_TEST: 'xRuleDelayMs=0',
  };
  return { env, stop, urls: postgres.urls, postgres, nats };
}

/** A folder that the user who runs PostgreSQL may write to, for any umask. */
export async function makeOpenDir(path: string): Promise<string> {
  await mkdir(path);
  await chmod(path, 0o777);
  return path;
}

/** Waits until a server receives the posts of the app. */
export async function untilListening(sandbox: SandboxClient, token = xToken): Promise<void> {
  await eventually(async () => expect((await sandbox.xState(token)).connections.open).toBe(1), {
    timeoutMs: 90_000,
  });
}

export async function newAccount(url: string): Promise<{ accountId: string; keyId: string; key: string }> {
  await using admin = await openAdmin(url);
  const { accountId } = await admin.createAccount({ name: 'pages' });
  const created = await admin.createKey({ accountId });
  if (!created) throw new Error('the account is gone');
  return { accountId, ...created };
}

/** Runs commands of a page, with the programs of PostgreSQL and `earshot` on the PATH. */
export async function run(
  command: string,
  env: Readonly<Record<string, string>>,
  { cwd = repository, asPostgres = false }: RunOptions = {},
): Promise<string> {
  const path = [join(repository, 'e2e/bin'), await findPostgresBinaries(), process.env['PATH']].join(':');
  const options = {
    env: { ...process.env, ...compileCache(), PATH: path, ...env },
    cwd,
    ...(asPostgres && (await unprivilegedUser())),
  };
  return (await promisify(execFile)('/bin/sh', ['-euc', command], options)).stdout;
}
