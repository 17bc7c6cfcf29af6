import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  findNatsServer,
  type Nats,
  type PostgresUrls,
  type Program,
  type ServerReady,
  startNats,
  startPostgres,
  startSandboxProgram,
  startServerProgram,
} from '@earshot/engines';
import { openAdmin } from '@earshot/server/admin';
import { type Api, createApi } from '../src/api.ts';
import { startForgetfulProxy } from '../src/forgetful-proxy.ts';
import { createSandboxClient, type SandboxClient, type XState } from '../src/sandbox-client.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const xToken = 'soak-x-token';
const tapToken = 'fh_soak';
const secretsKey = randomBytes(32).toString('base64');

/** Two servers, three NATS nodes, PostgreSQL and the sandbox, all of them processes that faults can hit. */
export interface SoakSystem {
  readonly nats: Nats;
  readonly sandbox: SandboxClient;
  /** X's state of the one app that the servers use. */
  readonly xState: () => Promise<XState>;
  readonly databaseUrl: string;
  readonly servers: readonly ServerNode[];
  /** SIGKILL, and a start on the same data. */
  crashPostgres(): Promise<void>;
  /** A caller that uses any server that is up. */
  api(): Api;
}

export interface ServerNode {
  /** The same address after a restart. */
  readonly metricsUrl: string;
  readonly pid: number;
  readonly isUp: boolean;
  kill(): Promise<void>;
  start(): Promise<void>;
}

/** `forgetful` removes the resume position for Firehose: the comparison must find missing pages. */
export async function startSoakSystem(
  stack: AsyncDisposableStack,
  { forgetful }: { forgetful: boolean },
): Promise<SoakSystem> {
  const dir = await mkdtemp(join(tmpdir(), 'earshot-soak-'));
  // If root runs the tests, PostgreSQL runs as another user, who needs access to its data.
  await chmod(dir, 0o711);
  stack.defer(() => rm(dir, { recursive: true, force: true }));
  const server = await findNatsServer({
    cacheDir: join(root, '.earshot/cache'),
    configured: process.env['EARSHOT_NATS_SERVER'],
  });
  let postgres = await startPostgres({ dir: join(dir, 'postgres') });
  stack.defer(() => postgres.stop());
  const nats = stack.use(await startNats({ server, dir: join(dir, 'nats'), nodes: 3 }));
  const sandboxProgram = stack.use(await startSandboxProcess(dir));
  const sandboxUrl = sandboxProgram.ready;
  const firehoseUrl = forgetful ? stack.use(await startForgetfulProxy(sandboxUrl)).url : sandboxUrl;
  const servers = ['one', 'two'].map((name, index) =>
    createServerNode({
      name,
      metricsHost: loopbackAddress(index),
      dir,
      postgres: postgres.urls,
      nats,
      sandboxUrl,
      firehoseUrl,
    }),
  );
  stack.defer(async () => {
    await Promise.all(servers.map((node) => node.kill()));
  });
  for (const node of servers) await node.start();
  await using admin = await openAdmin(postgres.urls.owner);
  await admin.setPlanLimits('paid', { requests: 1_000_000 });
  const { accountId } = await admin.createAccount({ name: 'soak' });
  const created = await admin.createKey({ accountId });
  if (!created) throw new Error('the account is gone');
  const sandbox = createSandboxClient(sandboxProgram.ready);
  return {
    nats,
    sandbox,
    xState: () => sandbox.xState(xToken),
    databaseUrl: postgres.urls.owner,
    servers,
    async crashPostgres() {
      const { port } = postgres;
      await postgres.kill();
      postgres = await startPostgres({ dir: join(dir, 'postgres'), port });
    },
    api() {
      const up = servers.find((node) => node.isUp) ?? servers[0];
      return createApi(up?.url ?? '', created.key);
    },
  };
}

function startSandboxProcess(dir: string): Promise<Program<string>> {
  return startSandboxProgram({
    args: ['--x-token', xToken, '--tap-token', tapToken, '--rule-delay-ms', '0', '--no-rate-limits'],
    logFile: join(dir, 'sandbox.log'),
  });
}

/** Faults restart it for hours, at some moment on a busy machine. */
const startsWithinMs = 600_000;
const metricsPort = 9464;

/**
 * An address that no other program uses: a killed node finds its port free when it starts again, so that Prometheus sees
 * the same node.
 */
function loopbackAddress(index: number): string {
  return `127.${index + 1}.${(process.pid >> 8) & 255}.${process.pid & 255}`;
}

interface ServerNodeOptions {
  readonly name: string;
  readonly metricsHost: string;
  readonly dir: string;
  readonly postgres: PostgresUrls;
  readonly nats: Nats;
  readonly sandboxUrl: string;
  readonly firehoseUrl: string;
}

function createServerNode(options: ServerNodeOptions) {
  const { name, metricsHost, dir, postgres, nats, sandboxUrl, firehoseUrl } = options;
  let program: Program<ServerReady> | null = null;
  return {
    metricsUrl: `http://${metricsHost}:${metricsPort}/metrics`,
    get pid() {
      return program?.pid ?? 0;
    },
    get isUp() {
      return program !== null;
    },
    get url() {
      return program?.ready.address ?? '';
    },
    async kill() {
      const running = program;
      program = null;
      await running?.kill();
    },
    async start() {
      program = await startServerProgram({
        env: {
          EARSHOT_DATABASE_URL: postgres.runtime,
          EARSHOT_ACCOUNT_DATABASE_URL: postgres.account,
          EARSHOT_MIGRATION_DATABASE_URL: postgres.owner,
          EARSHOT_METRICS_HOST: metricsHost,
          EARSHOT_METRICS_PORT: String(metricsPort),
          EARSHOT_NATS_URL: nats.url,
          EARSHOT_X_TOKENS: `main=${xToken}`,
          EARSHOT_FIREHOSE_TOKENS: `main=${tapToken}`,
          EARSHOT_X_BASE_URL: sandboxUrl,
          EARSHOT_FIREHOSE_BASE_URL: firehoseUrl,
          EARSHOT_BLUESKY_URL: sandboxUrl.replace('http', 'ws'),
          EARSHOT_TEST: 'leaseTtlMs=3000,xRuleDelayMs=0,allowInsecureWebhooks=true',
          // The sandbox applies a new rule at once.
          EARSHOT_ACCOUNT_SHARE_PERCENT: '100',
          EARSHOT_RULE_BUDGET: 'off',
          EARSHOT_SECRETS_KEY: secretsKey,
        },
        logFile: join(dir, `server-${name}.log`),
        timeoutMs: startsWithinMs,
      });
    },
  };
}
