import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fetchFromDebian } from '@earshot/engines';
import { eventually } from '@earshot/testkit';
import { cache } from './images.ts';
import { run } from './run.ts';

/** A container engine for this test only. */
export interface Engine extends AsyncDisposable {
  readonly dir: string;
  /** The value of `DOCKER_HOST`. */
  readonly host: string;
  docker(...args: string[]): Promise<string>;
  /** Runs `docker compose` in a folder with a compose.yaml. */
  compose(folder: string, ...args: string[]): Promise<string>;
  /** An address on this machine that forwards to a port on the engine's loopback. */
  reach(port: number): Promise<string>;
}

export const composeProgram = join(cache, 'docker-compose');

/** `docker compose`, which Debian 12 does not have. */
export async function fetchCompose(): Promise<void> {
  if (await run(composeProgram, ['version']).catch(() => '')) return;
  const file = 'usr/libexec/docker/cli-plugins/docker-compose';
  await fetchFromDebian({ suite: 'trixie', package: 'docker-compose', file, target: composeProgram });
}

/**
 * dockerd in its own network namespace, so that its bridge, firewall rules and published ports affect no other program.
 * All its files are in one folder, which is deleted with it.
 */
export async function startEngine(): Promise<Engine> {
  await using stack = new AsyncDisposableStack();
  const dir = await mkdtemp(join(tmpdir(), 'earshot-containers-'));
  stack.defer(() => rm(dir, { recursive: true, force: true }));
  const network = `earshot-${process.pid}`;
  await run('ip', ['netns', 'add', network]);
  stack.defer(async () => void (await run('ip', ['netns', 'delete', network])));
  // Not `ip netns exec`, which hides /sys/fs/cgroup.
  const inside = [`--net=/run/netns/${network}`];
  await run('nsenter', [...inside, 'ip', 'link', 'set', 'lo', 'up']);
  const env = { DOCKER_HOST: `unix://${dir}/docker.sock` };
  stack.use(await startDockerd(dir, inside, env));
  const running = stack.move();
  return {
    dir,
    host: env.DOCKER_HOST,
    docker: (...args) => run('docker', args, { env }),
    compose: (folder, ...args) => run(composeProgram, args, { cwd: folder, env }),
    reach: async (port) => running.use(await openGate(inside, port)).url,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

async function startDockerd(
  dir: string,
  inside: readonly string[],
  env: Record<string, string>,
): Promise<AsyncDisposable> {
  const settings = {
    'data-root': join(dir, 'data'),
    'exec-root': join(dir, 'exec'),
    pidfile: join(dir, 'docker.pid'),
    hosts: [env['DOCKER_HOST']],
    // A lower value than its own needs CAP_SYS_RESOURCE.
    'oom-score-adjust': 0,
  };
  await mkdir(join(dir, 'exec'));
  await writeFile(join(dir, 'daemon.json'), JSON.stringify(settings));
  const log = await open(join(dir, 'dockerd.log'), 'w');
  const args = [...inside, 'dockerd', '--config-file', join(dir, 'daemon.json')];
  const daemon = spawn('nsenter', args, { stdio: ['ignore', log.fd, log.fd], detached: true });
  await log.close();
  const exited = once(daemon, 'exit');
  const stop = async () => {
    // It ends its containers and containerd first.
    daemon.kill('SIGTERM');
    await exited;
  };
  try {
    await eventually(() => run('docker', ['version'], { env }), { timeoutMs: 60_000 });
  } catch (error) {
    await stop();
    throw new Error(await readFile(join(dir, 'dockerd.log'), 'utf8'), { cause: error });
  }
  return { [Symbol.asyncDispose]: stop };
}

/** A program in the namespace accepts the connections of a socket that was opened outside of it. */
const gateProgram = `
  import { connect } from 'node:net';
  process.once('message', (port, server) => {
    server.on('connection', (outside) => {
      const within = connect(port, '127.0.0.1');
      outside.pipe(within).pipe(outside);
      for (const [one, other] of [[outside, within], [within, outside]]) one.on('error', () => other.destroy());
    });
  });
  process.once('disconnect', () => process.exit());`;

async function openGate(inside: readonly string[], port: number): Promise<AsyncDisposable & { url: string }> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a TCP server has no port');
  const args = [...inside, process.execPath, '--input-type=module', '-e', gateProgram];
  const gate = spawn('nsenter', args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const exited = once(gate, 'exit');
  gate.send(port, server);
  server.close();
  return {
    url: `http://127.0.0.1:${address.port}`,
    async [Symbol.asyncDispose]() {
      gate.disconnect();
      await exited;
    },
  };
}
