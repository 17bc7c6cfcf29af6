import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePorts } from './free-port.ts';
import type { Cluster, Passwords } from './postgres-cluster.ts';
import { backUp, openCluster } from './postgres-cluster.ts';
import type { Lifetime, ServerProcess } from './process.ts';
import { spawnServer, waitUntilReady } from './process.ts';

export type Postgres = Awaited<ReturnType<typeof startPostgres>>;

/** Logins to one database, each with its password. */
export interface PostgresUrls {
  /** Of the superuser. */
  readonly superuser: string;
  readonly owner: string;
  readonly runtime: string;
  readonly account: string;
}

interface PostgresOptions {
  /** Holds the cluster and its log; an existing one is reused. */
  dir: string;
  port?: number | undefined;
  lifetime?: Lifetime;
  log?: (progress: string) => void;
}

const readyTimeoutMs = 60_000;
const attempts = 5;

/** A private PostgreSQL on loopback with production's durable settings and logins (deploy/postgres-roles.sql). */
export async function startPostgres(options: PostgresOptions) {
  const dir = resolve(options.dir);
  const cluster = await openCluster(dir, options.log ?? (() => {}));
  const { server, port } = await startWithRetries(cluster, {
    logFile: join(dir, 'postgres.log'),
    port: options.port,
    lifetime: options.lifetime ?? 'parent',
  });
  /** Fast shutdown: open transactions are rolled back. */
  const stop = () => server.stop('SIGINT');
  return {
    urls: urlsOf(cluster.passwords, port),
    port,
    pid: server.pid,
    /** Part of the command line of the process: see `isRunning`. */
    dataDir: cluster.dataDir,
    /** A base backup to start from: another user must be able to enter its parents. With a port it is a standby, which follows there. */
    backUp: (to: string, { standbyAt }: { standbyAt?: number } = {}) =>
      backUp(cluster, {
        url: urlsOf(cluster.passwords, standbyAt ?? port).superuser,
        dir: resolve(to),
        standby: standbyAt !== undefined,
      }),
    /** Simulates a crash with SIGKILL. */
    kill: () => server.stop('SIGKILL'),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

function urlsOf(passwords: Passwords, port: number): PostgresUrls {
  const url = (user: string, password: string) => `postgres://${user}:${password}@127.0.0.1:${port}/earshot`;
  return {
    superuser: url('postgres', passwords.postgres),
    owner: url('earshot_owner', passwords.owner),
    runtime: url('earshot_runtime', passwords.runtime),
    account: url('earshot_account', passwords.account),
  };
}

interface StartOptions {
  logFile: string;
  port: number | undefined;
  lifetime: Lifetime;
}

/**
 * Retries a start that failed for a temporary reason: a backend of a crashed server still holds its shared memory, or
 * another program took the port.
 */
async function startWithRetries(cluster: Cluster, options: StartOptions) {
  for (let attempt = 1; ; attempt++) {
    const port = options.port ?? (await freePorts(1))[0] ?? 0;
    try {
      return { port, server: await startOnce(cluster, { ...options, port }) };
    } catch (error) {
      if (attempt === attempts) throw error;
      await sleep(200 * attempt);
    }
  }
}

async function startOnce(cluster: Cluster, options: StartOptions & { port: number }): Promise<ServerProcess> {
  const server = await spawnServer({
    command: join(cluster.binaries, 'postgres'),
    args: [
      '-D',
      cluster.dataDir,
      ...Object.entries(settings(options.port)).flatMap(([k, v]) => ['-c', `${k}=${v}`]),
    ],
    logFile: options.logFile,
    lifetime: options.lifetime,
    runAs: cluster.runAs,
  });
  const isReady = async () => {
    const pidFile = await readFile(join(cluster.dataDir, 'postmaster.pid'), 'utf8').catch(() => '');
    const lines = pidFile.split('\n');
    // The eighth line is the server's state, which pg_ctl waits for as well.
    return lines[0] === String(server.pid) && lines[7]?.trim() === 'ready';
  };
  try {
    const { logFile } = options;
    await waitUntilReady({ server, name: 'PostgreSQL', logFile, timeoutMs: readyTimeoutMs, isReady });
  } catch (error) {
    await server.stop('SIGKILL');
    throw error;
  }
  return server;
}

function settings(port: number) {
  return {
    listen_addresses: '127.0.0.1',
    port,
    // No unix socket: its path is limited to 107 bytes, and no client uses it.
    unix_socket_directories: '',
    max_connections: 200,
    fsync: 'on',
    full_page_writes: 'on',
    synchronous_commit: 'on',
    timezone: 'UTC',
    log_timezone: 'UTC',
  };
}
