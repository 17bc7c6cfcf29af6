import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Nats, type Program, type ServerReady, startServerProgram } from '@earshot/engines';
import { type SandboxOptions, startSandbox } from '@earshot/sandbox';
import { type Admin, openAdmin } from '@earshot/server/admin';
import { migratedTemplate, startTestNats, storesDir, type TestDatabase } from '@earshot/testkit';
import { Pool } from 'pg';
import { type Api, createApi } from './api.ts';
import { createSandboxClient, type SandboxClient } from './sandbox-client.ts';

export const xToken = 'world-x-token';
export const tapToken = 'fh_world';

const oneOfEach = { xApps: [{ token: xToken }], taps: [{ token: tapToken }] };

/**
 * The whole system: real PostgreSQL and NATS, servers as processes to start and kill, and a sandbox for the upstreams in
 * the test's own process, behind a real port.
 */
export interface World extends AsyncDisposable {
  readonly sandbox: SandboxClient;
  readonly sandboxUrl: string;
  readonly databaseUrl: string;
  /** The logins of a node, as its settings. */
  readonly logins: Readonly<Record<string, string>>;
  /** Direct access to the servers' database; connects with its first query. */
  readonly database: Pool;
  readonly nats: Nats;
  readonly admin: Admin;
  startServer(env?: Record<string, string>): Promise<ServerUnderTest>;
  /** A new account with one key that has all scopes. */
  newAccount(name?: string): Promise<Account>;
  /** The log output of all servers so far. */
  serverLog(): Promise<string>;
}

export interface Account {
  readonly accountId: string;
  readonly keyId: string;
  readonly key: string;
}

export interface ServerUnderTest extends AsyncDisposable {
  readonly url: string;
  readonly metricsUrl: string;
  readonly pid: number;
  readonly exited: Promise<void>;
  kill(): Promise<void>;
  stop(): Promise<void>;
  api(account: Account): Api;
}

interface WorldOptions {
  /** How the upstreams differ from one app and one Firehose token that apply rules at once. */
  readonly sandbox?: SandboxOptions;
  /** Instead of a copy of the run's template: a migrated database that the caller drops. */
  readonly database?: Pick<TestDatabase, 'url' | 'urls'>;
  /** The folder for its files. */
  readonly within?: string;
}

export async function startWorld({
  sandbox: wanted,
  database: given,
  within = storesDir(),
}: WorldOptions = {}): Promise<World> {
  await using stack = new AsyncDisposableStack();
  const dir = await mkdtemp(join(within, 'earshot-world-'));
  stack.defer(() => rm(dir, { recursive: true, force: true }));
  const logFile = join(dir, 'server.log');
  const [nats, database, sandbox] = await Promise.all([
    startTestNats({ dir: join(dir, 'nats'), password: 'world' }).then((started) => stack.use(started)),
    given ??
      migratedTemplate()
        .clone()
        .then((cloned) => stack.use(cloned)),
    startSandbox({ ...oneOfEach, ruleDelayMs: 0, ...wanted }).then((started) => stack.use(started)),
  ]);
  const behind = new Pool({ connectionString: database.url, max: 1 });
  // The database is dropped before all connections of the pool have closed. The pool reports errors of idle connections,
  // other connections report their own.
  behind.on('error', () => undefined).on('connect', (client) => client.on('error', () => undefined));
  stack.defer(() => behind.end());
  const admin = stack.use(await openAdmin(database.urls.owner));
  // Tests send more requests than people do. Tests of limits set their own limits.
  await admin.setPlanLimits('paid', { requests: 1_000_000, changes: 1_000_000 });
  const logins = {
    EARSHOT_DATABASE_URL: database.urls.runtime,
    EARSHOT_ACCOUNT_DATABASE_URL: database.urls.account,
    EARSHOT_MIGRATION_DATABASE_URL: database.urls.owner,
  };
  const servers = stack.use(serverStarter({ logins, nats, sandboxUrl: sandbox.url, logFile }));
  const running = stack.move();
  return {
    sandbox: createSandboxClient(sandbox.url),
    databaseUrl: database.url,
    logins,
    database: behind,
    nats,
    admin,
    sandboxUrl: sandbox.url,
    startServer: servers.start,
    newAccount: (name) => newAccount(admin, name),
    serverLog: () => readFile(logFile, 'utf8').catch(() => ''),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

function serverStarter(common: { logins: World['logins']; nats: Nats; sandboxUrl: string; logFile: string }) {
  const started = new Set<Program<ServerReady>>();
  const start = async (env: Record<string, string> = {}): Promise<ServerUnderTest> => {
    const program = await startServerProgram({
      env: {
        ...common.logins,
        EARSHOT_NATS_URL: common.nats.url,
        EARSHOT_X_TOKENS: `main=${xToken}`,
        EARSHOT_FIREHOSE_TOKENS: `main=${tapToken}`,
        EARSHOT_X_BASE_URL: common.sandboxUrl,
        EARSHOT_FIREHOSE_BASE_URL: common.sandboxUrl,
        EARSHOT_ACCOUNT_SHARE_PERCENT: '100',
        // Tests store more in a second than a rule may cost in a day.
        EARSHOT_RULE_BUDGET: 'off',
        ...env,
        // The sandbox applies rules at once. The test's own settings come last and win.
        EARSHOT_TEST: `leaseTtlMs=1500,xRuleDelayMs=0,requestsInFlightMax=1000,${env['EARSHOT_TEST'] ?? ''}`,
      },
      logFile: common.logFile,
    });
    started.add(program);
    const url = program.ready.address;
    return {
      url,
      metricsUrl: `http://127.0.0.1:${program.ready.metricsPort}/metrics`,
      pid: program.pid,
      exited: program.exited,
      kill: () => program.kill(),
      stop: () => program.stop(),
      api: (account) => createApi(url, account.key),
      [Symbol.asyncDispose]: () => program.stop(),
    };
  };
  return {
    start,
    async [Symbol.asyncDispose]() {
      await Promise.all([...started].map((program) => program.kill()));
    },
  };
}

async function newAccount(admin: Admin, name = 'test account'): Promise<Account> {
  const { accountId } = await admin.createAccount({ name });
  const created = await admin.createKey({ accountId });
  if (!created) throw new Error('the account is gone');
  return { accountId, ...created };
}
