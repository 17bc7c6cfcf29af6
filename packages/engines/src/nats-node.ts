import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Lifetime, ServerProcess } from './process.ts';
import { isRunning, spawnServer, waitUntilReady } from './process.ts';

export interface NatsPorts {
  client: number;
  monitor: number;
  cluster: number;
}

export type NatsNode = Awaited<ReturnType<typeof startNode>>['node'];

interface NodeOptions {
  server: string;
  dir: string;
  name: string;
  ports: NatsPorts;
  /** Cluster ports of all nodes; empty for a single node. */
  routes: readonly number[];
  lifetime: Lifetime;
  settings: NatsSettings;
  /** Password of the user in deploy/nats-users.conf and between the nodes. Undefined: every client has all rights. */
  password: string | undefined;
}

const usersFile = new URL('../../../deploy/nats-users.conf', import.meta.url);

/** Overrides for fault tests; production's settings by default. */
export interface NatsSettings {
  /** `2m` is the server's own default: an acknowledged message is not on disk yet. */
  readonly syncInterval?: 'always' | '2m';
  readonly maxFileStore?: string;
}

const readyTimeoutMs = 60_000;

/**
 * Returns as soon as the process runs; `ready` waits for JetStream, which in a cluster needs the other nodes: most of
 * them to work, and all of them before a stream can have a copy on each.
 */
export async function startNode(options: NodeOptions) {
  const { name, ports, dir } = options;
  const files = { config: join(dir, 'nats.conf'), log: join(dir, 'nats.log'), pid: join(dir, 'nats.pid') };
  const storeDir = join(dir, 'store');
  const monitorUrl = `http://127.0.0.1:${ports.monitor}`;
  await mkdir(storeDir, { recursive: true });
  await refuseSecondServer(files.pid, files.config);
  const users = options.password === undefined ? '' : await usersWith(options.password);
  // It holds the password; the mode of an existing file stays as it is.
  await rm(files.config, { force: true });
  await writeFile(files.config, configuration({ ...options, storeDir, pidFile: files.pid, users }), {
    mode: 0o600,
  });

  const { server: command, lifetime } = options;
  const spawn = () => spawnServer({ command, args: ['-c', files.config], logFile: files.log, lifetime });
  const isReady = (peers?: 'all') =>
    isJetStreamReady(monitorUrl, { name, nodes: options.routes.length, peers });
  const ready = (peers?: 'all'): Promise<void> =>
    waitUntilReady({
      server,
      name: `nats-server ${name}`,
      logFile: files.log,
      timeoutMs: readyTimeoutMs,
      isReady: () => isReady(peers),
    });
  let server: ServerProcess = await spawn();
  const node = {
    name,
    url: `nats://${options.password === undefined ? '' : `earshot:${options.password}@`}127.0.0.1:${ports.client}`,
    monitorUrl,
    /** Of the current process; changes with `restart`. */
    get pid() {
      return server.pid;
    },
    storeDir,
    /** Part of the command line of the process: see `isRunning`. */
    configFile: files.config,
    /** Sends the signal and waits for the exit; with SIGSTOP until it has stopped, with SIGCONT not at all. */
    async kill(signal: NodeJS.Signals): Promise<void> {
      if (signal !== 'SIGSTOP' && signal !== 'SIGCONT') return await server.stop(signal);
      process.kill(server.pid, signal);
      if (signal === 'SIGSTOP') while (await hasRunningThreads(server.pid));
    },
    /** Stops the process if it still runs and starts it again on the same store and ports; waits until it is ready. */
    async restart(): Promise<void> {
      await server.stop('SIGTERM');
      server = await spawn();
      await ready();
    },
  };
  return { node, ready };
}

/** On a busy machine, threads continue to answer for a while after SIGSTOP. Only Linux shows their state. */
async function hasRunningThreads(pid: number): Promise<boolean> {
  const tasks = `/proc/${pid}/task`;
  const threads = process.platform === 'linux' ? await readdir(tasks) : [];
  // A thread that has ended in between does not run.
  const stats = threads.map((thread) => readFile(`${tasks}/${thread}/stat`, 'utf8').catch(() => ') T'));
  return (await Promise.all(stats)).some((stat) => !/\) T/.test(stat));
}

/** nats-server does not lock its store: two servers on one folder would corrupt it. */
async function refuseSecondServer(pidFile: string, configFile: string): Promise<void> {
  const pid = Number.parseInt(await readFile(pidFile, 'utf8').catch(() => ''), 10);
  if (!Number.isNaN(pid) && (await isRunning(pid, configFile))) {
    throw new Error(`nats-server already runs with ${configFile} as process ${pid}: stop it first`);
  }
}

/** The users of production. Quoted, because nats-server takes a password that looks like a number for one. */
async function usersWith(password: string): Promise<string> {
  return (await readFile(usersFile, 'utf8')).replaceAll('$NATS_PASSWORD', JSON.stringify(password));
}

function configuration(options: NodeOptions & { storeDir: string; pidFile: string; users: string }): string {
  const { name, ports, routes, settings, password } = options;
  const login = password === undefined ? '' : `cluster:${password}@`;
  const cluster = `
cluster {
  name: earshot
  listen: "127.0.0.1:${ports.cluster}"
  ${password === undefined ? '' : `authorization { user: cluster, password: ${JSON.stringify(password)}, timeout: 5 }`}
  routes: [${routes.map((port) => `"nats://${login}127.0.0.1:${port}"`).join(', ')}]
}
`;
  // JSON strings are valid here and escape special characters in paths.
  return `server_name: ${name}
listen: "127.0.0.1:${ports.client}"
http: "127.0.0.1:${ports.monitor}"
pid_file: ${JSON.stringify(options.pidFile)}
max_payload: 1MB
jetstream {
  store_dir: ${JSON.stringify(options.storeDir)}
  # An acknowledgement means that the message is on disk.
  sync_interval: ${settings.syncInterval ?? 'always'}
  max_file_store: ${settings.maxFileStore ?? '20GB'}
  max_memory_store: 256MB
}
${routes.length === 0 ? '' : cluster}${options.users}`;
}

async function isJetStreamReady(
  monitorUrl: string,
  { name, nodes, peers }: { name: string; nodes: number; peers: 'all' | undefined },
): Promise<boolean> {
  try {
    // Without its streams: tests start single nodes of a cluster, whose streams have no leader before the others start.
    const health = await fetch(`${monitorUrl}/healthz?js-server-only=true`);
    await health.body?.cancel();
    if (!health.ok || nodes === 0) return health.ok;
    const answer: unknown = await (await fetch(`${monitorUrl}/jsz`)).json();
    const meta = field(answer, 'meta_cluster');
    const leader = field(meta, 'leader');
    if (typeof leader !== 'string' || leader === '') return false;
    // Only the leader knows every node, and only the leader places streams.
    return peers === undefined || leader !== name || currentPeers(meta) === nodes - 1;
  } catch {
    return false;
  }
}

function currentPeers(meta: unknown): number {
  const replicas = field(meta, 'replicas');
  if (!Array.isArray(replicas)) return 0;
  return replicas.filter((one) => field(one, 'current') === true && field(one, 'offline') !== true).length;
}

function field(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
}
