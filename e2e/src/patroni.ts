import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chown, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findPostgresBinaries, freePorts, spawnServer, unprivilegedUser } from '@earshot/engines';
import { eventually, startTcpProxy } from '@earshot/testkit';
import { expect } from 'vitest';
import { onDatabase, type Primary } from './drill.ts';

const run = promisify(execFile);
const within = { timeoutMs: 120_000, intervalMs: 500 };
const rolesFile = join(import.meta.dirname, '../../deploy/postgres-roles.sql');
/** Patroni, what it imports, and etcd, in Debian 12. */
const packages =
  `patroni etcd-server python3-psycopg2 python3-yaml python3-click python3-prettytable python3-dateutil
  python3-dnspython python3-etcd python3-psutil python3-urllib3 python3-six python3-wcwidth python3-cdiff
  python3-pkg-resources`.split(/\s+/);

/** A leader and an asynchronous replica under Patroni and etcd; the replica follows through a proxy that can be halted. */
export async function startPatroniCluster(dir: string) {
  await using stack = new AsyncDisposableStack();
  const root = await fetchPackages(dir);
  const [etcdPort = 0, etcdPeerPort = 0] = await freePorts(2);
  const etcd = await startEtcd({ root, dir, port: etcdPort, peerPort: etcdPeerPort });
  stack.defer(() => etcd.stop('SIGTERM'));
  const common = { root, dir, etcdPort, password: randomBytes(16).toString('hex') };
  const leader = stack.use(await startMember({ ...common, name: 'one' }));
  await eventually(() => leader.has('primary'), within);
  const urls = await createRoles(leader.port, common.password);
  const replica = stack.use(await startMember({ ...common, name: 'two' }));
  await eventually(() => replica.has('replica'), within);
  await eventually(async () => {
    const state = await onDatabase(urls.superuser, 'select state, sync_state from pg_stat_replication');
    expect(state).toEqual([{ state: 'streaming', sync_state: 'async' }]);
  }, within);
  const running = stack.move();
  const primary: Primary = { urls, port: leader.port, kill: () => leader.kill() };
  return {
    ...primary,
    /** From now on nothing of the leader reaches the replica. */
    haltReplication: leader.halt,
    /** When Patroni has made it the leader. */
    async promoted(): Promise<{ port: number }> {
      await eventually(() => replica.has('primary'), within);
      return { port: replica.port };
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** Without installing anything. */
async function fetchPackages(dir: string): Promise<string> {
  const root = join(dir, 'root');
  await mkdir(root, { recursive: true });
  try {
    await run('apt-get', ['-q', '-o', 'APT::Sandbox::User=root', 'download', ...packages], { cwd: dir });
  } catch (error) {
    throw new Error('Patroni and etcd come from Debian 12, and apt-get could not download them', {
      cause: error,
    });
  }
  for (const name of await readdir(dir)) {
    if (name.endsWith('.deb')) await run('dpkg', ['-x', join(dir, name), root]);
  }
  return root;
}

function startEtcd(options: { root: string; dir: string; port: number; peerPort: number }) {
  const { root, dir, port, peerPort } = options;
  const [client, peer] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${peerPort}`];
  const args = [
    ['--data-dir', join(dir, 'etcd')],
    ['--listen-client-urls', client, '--advertise-client-urls', client],
    [
      '--listen-peer-urls',
      peer,
      '--initial-advertise-peer-urls',
      peer,
      '--initial-cluster',
      `default=${peer}`,
    ],
  ];
  return spawnServer({
    command: join(root, 'usr/bin/etcd'),
    args: args.flat(),
    logFile: join(dir, 'etcd.log'),
    lifetime: 'parent',
  });
}

interface MemberOptions {
  readonly root: string;
  readonly dir: string;
  readonly etcdPort: number;
  readonly password: string;
  readonly name: string;
}

async function startMember({ root, dir, etcdPort, password, name }: MemberOptions) {
  const [binaries, runAs] = await Promise.all([findPostgresBinaries(), unprivilegedUser()]);
  const [port = 0, restPort = 0] = await freePorts(2);
  const proxy = await startTcpProxy({ target: { port } });
  const home = join(dir, name);
  await mkdir(home);
  const dataDir = join(home, 'data');
  const rest = `127.0.0.1:${restPort}`;
  // JSON is YAML.
  const configuration = JSON.stringify({
    scope: 'earshot',
    name,
    etcd3: { host: `127.0.0.1:${etcdPort}` },
    restapi: { listen: rest, connect_address: rest },
    bootstrap: {
      // The shortest ttl that Patroni takes. A replica that is far behind may lead as well: that is the drill.
      dcs: { ttl: 20, loop_wait: 2, retry_timeout: 3, maximum_lag_on_failover: 2 ** 30 },
      initdb: ['data-checksums', { encoding: 'UTF8' }, { locale: 'C.UTF-8' }],
    },
    postgresql: {
      listen: `127.0.0.1:${port}`,
      connect_address: proxy.address,
      data_dir: dataDir,
      bin_dir: binaries,
      pgpass: join(home, 'pgpass'),
      authentication: {
        superuser: { username: 'postgres', password },
        replication: { username: 'replicator', password },
      },
      parameters: { max_connections: 200, timezone: 'UTC', unix_socket_directories: home },
      pg_hba: [
        'local all all trust',
        'host all all 127.0.0.1/32 md5',
        'host replication all 127.0.0.1/32 md5',
      ],
    },
  });
  const configurationFile = join(home, 'patroni.yml');
  await writeFile(configurationFile, configuration);
  if (runAs) for (const path of [home, configurationFile]) await chown(path, runAs.uid, runAs.gid);
  const patroni = await spawnServer({
    command: '/usr/bin/python3',
    args: [join(root, 'usr/bin/patroni'), configurationFile],
    env: { ...process.env, PYTHONPATH: join(root, 'usr/lib/python3/dist-packages'), HOME: home },
    logFile: join(dir, `${name}.log`),
    lifetime: 'parent',
    runAs,
  });
  return {
    port,
    halt: proxy.pause,
    /** What its health checks say: load balancers ask the same. */
    has: async (role: 'primary' | 'replica') => (await fetch(`http://${rest}/${role}`)).ok,
    /** The machine is gone: Patroni and PostgreSQL at once. */
    async kill() {
      const postmaster = Number.parseInt(await readFile(join(dataDir, 'postmaster.pid'), 'utf8'), 10);
      await patroni.stop('SIGKILL');
      process.kill(postmaster, 'SIGKILL');
    },
    async [Symbol.asyncDispose]() {
      await patroni.stop('SIGTERM');
      await proxy[Symbol.asyncDispose]();
    },
  };
}

/** As an operator does it, with `deploy/postgres-roles.sql`. */
async function createRoles(port: number, password: string): Promise<Primary['urls']> {
  const url = (user: string, name = 'earshot') => `postgres://${user}:${password}@127.0.0.1:${port}/${name}`;
  const text = (await readFile(rolesFile, 'utf8')).replaceAll(/:'\w+_password'/g, `'${password}'`);
  for (const statement of text.split('\n').filter((line) => /^[a-z]/.test(line))) {
    await onDatabase(url('postgres', 'postgres'), statement);
  }
  return {
    superuser: url('postgres'),
    owner: url('earshot_owner'),
    runtime: url('earshot_runtime'),
    account: url('earshot_account'),
  };
}
